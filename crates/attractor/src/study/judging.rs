//! How the models of a study are judged: the settings of measures, the number of starts, and what is known of the data.

use std::collections::BTreeMap;

use attractor_core::measure::{self, Options};
use attractor_core::settings::{Domain, Setting, Settings, nearest};
use attractor_core::system::{SYSTEMS, find};

use super::file::StudyFile;
use crate::Error;
use crate::evaluation::{Levels, Request};
use crate::experiment::{ExperimentError, Given, Origin};

/// How models are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judging {
    /// What is asked for.
    pub request: Request,
    /// All that scores depend on, by name, as text.
    pub texts: BTreeMap<String, String>,
}

static STARTS: Setting = Setting {
    name: "starts",
    default: "8",
    domain: Domain::Integer {
        low: 1,
        high: 10_000,
    },
    about: "number of rows of the data from which orbits start, the first row among them",
};

static FLOORS: Setting = Setting {
    name: "floors",
    default: "true",
    domain: Domain::Flag,
    about: "whether scores are shown beside floors and chance levels",
};

static LYAPUNOV: Setting = Setting {
    name: "lyapunov",
    default: "1",
    domain: Domain::Positive,
    about: "largest Lyapunov exponent per unit of time",
};

impl Judging {
    /// The paper's orbit alone, with the defaults of all measures.
    pub(crate) fn of_one_orbit() -> Judging {
        let list: Vec<&Setting> = measure::SETTINGS.to_vec();
        let settings = Settings::resolve(&list, []).expect("defaults lie in their domains");
        let request = Request {
            options: Options::new(&settings),
            ..Request::default()
        };
        Judging {
            texts: texts(&settings, &request),
            request,
        }
    }

    /// As these settings say, by the keys of `[evaluation]`, for data of a system with these parameters.
    pub fn of(given: &[(String, String)], set: Vec<(String, String)>) -> Result<Judging, Error> {
        let mut file = StudyFile {
            system_set: set,
            ..StudyFile::default()
        };
        for (name, text) in given {
            file.evaluation.push(name, text, Origin::Flag);
        }
        Judging::check(&file)
    }

    pub(super) fn check(file: &StudyFile) -> Result<Judging, Error> {
        let given = &file.evaluation.given;
        let list: Vec<&Setting> = measure::SETTINGS
            .iter()
            .copied()
            .chain([&STARTS, &FLOORS, &LYAPUNOV])
            .collect();
        let is_setting = |given: &&Given| given.name != "system";
        for given in given.iter().filter(is_setting) {
            let one = [(given.name.as_str(), given.text.as_str())];
            Settings::resolve(&list, one).map_err(|error| ExperimentError::Setting {
                error,
                origin: given.origin.clone(),
            })?;
        }
        let pairs = given.iter().filter(is_setting);
        let pairs = pairs.map(|given| (given.name.as_str(), given.text.as_str()));
        let settings = Settings::resolve(&list, pairs).expect("each was checked alone");
        let text = |name: &str| given.iter().find(|given| given.name == name);
        let system = text("system")
            .map(|given| system(&given.text))
            .transpose()?;
        let request = Request {
            options: Options::new(&settings),
            system,
            set: file.system_set.clone(),
            lyapunov: text("lyapunov").map(|_| settings.real("lyapunov")),
            other_starts: settings.integer("starts") - 1,
            levels: if settings.flag("floors") {
                Levels::Shown
            } else {
                Levels::LeftOut
            },
            ..Request::default()
        };
        Ok(Judging {
            texts: texts(&settings, &request),
            request,
        })
    }
}

fn system(name: &str) -> Result<String, Error> {
    match find(name) {
        Some(_) => Ok(name.to_string()),
        None => Err(Error::UnknownName {
            what: "system",
            name: name.to_string(),
            near: nearest(name, SYSTEMS.iter().map(|info| info.entry.id)),
        }),
    }
}

fn texts(settings: &Settings, request: &Request) -> BTreeMap<String, String> {
    let counted = |(name, _): &(&str, _)| !["floors", "lyapunov"].contains(name);
    let mut texts: BTreeMap<String, String> = settings
        .iter()
        .filter(counted)
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let lyapunov = request.lyapunov.map(|exponent| exponent.to_string());
    texts.extend(lyapunov.map(|text| ("lyapunov".to_string(), text)));
    let system = request.system.clone();
    texts.extend(system.map(|name| ("system".to_string(), name)));
    let set = request.set.iter();
    texts.extend(set.map(|(name, value)| (format!("set.{name}"), value.clone())));
    texts
}
