//! Debian's packages of programs that tests need, installed where we may: as root, with `apt-get`. Elsewhere the tests say what they skip.

use std::process::Command;

use crate::command::quietly;

/// Programs, each with what shows that it is there, and the packages that have them.
pub(crate) struct Wanted {
    pub(crate) programs: &'static [&'static str],
    pub(crate) packages: &'static [&'static str],
}

/// A Slurm of one node, and GNU parallel, for studies on other machines.
pub(crate) const QUEUES: Wanted = Wanted {
    programs: &["slurmctld", "slurmd", "sbatch", "munged", "parallel"],
    packages: &["slurmctld", "slurmd", "slurm-client", "munge", "parallel"],
};

/// A browser and what drives it.
pub(crate) const BROWSER: Wanted = Wanted {
    programs: &["chromium", "chromedriver"],
    packages: &["chromium", "chromium-driver"],
};

impl Wanted {
    /// Installs what is missing, if that is possible; the error says what is missing then.
    pub(crate) fn install(&self) -> Result<(), String> {
        let Some(program) = self.missing() else {
            return Ok(());
        };
        let told = format!("there is no `{program}`");
        let is_root = quietly(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
        if !is_root || quietly(Command::new("apt-get").arg("--version")).is_err() {
            return Err(told);
        }
        println!("installing Debian's {}", self.packages.join(", "));
        let mut apt = Command::new("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        // Another installation may be at it.
        apt.args(["-o", "DPkg::Lock::Timeout=120", "install", "-y", "-qq"]);
        apt.arg("--no-install-recommends").args(self.packages);
        quietly(&mut apt).map_err(|why| format!("{told}, and apt-get says: {why}"))?;
        self.missing()
            .map_or(Ok(()), |program| Err(format!("there is no `{program}`")))
    }

    /// The first program that is not there.
    fn missing(&self) -> Option<&'static str> {
        let is_there = |program: &&str| {
            let mut find = Command::new("sh");
            find.args(["-c", "command -v \"$1\"", "sh", program]);
            quietly(&mut find).is_ok()
        };
        self.programs
            .iter()
            .copied()
            .find(|program| !is_there(program))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_installed() {
        let there = Wanted {
            programs: &["sh"],
            packages: &["no-such-package"],
        };
        assert_eq!(there.install(), Ok(()));
        let missing = Wanted {
            programs: &["sh", "no-such-program-at-all"],
            packages: &[],
        };
        assert_eq!(missing.missing(), Some("no-such-program-at-all"));
    }
}
