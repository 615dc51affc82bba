//! The style, and the scripts that draw charts, orbits and running models, for the page of a report and for the one over runs.

/// The style.
pub(crate) const STYLE: &str = include_str!("page/page.css");
/// Making elements.
pub(crate) const DOM: &str = include_str!("page/dom.js");
/// Numbers as text, and the marks of axes.
pub(crate) const NUMBERS: &str = include_str!("page/numbers.js");
/// Colours and drawing again.
pub(crate) const THEME: &str = include_str!("page/theme.js");
/// Line charts.
pub(crate) const CHARTS: &str = include_str!("page/charts.js");
/// Heat maps.
pub(crate) const HEAT: &str = include_str!("page/heat.js");
/// Orbits in space.
pub(crate) const SPACE: &str = include_str!("page/space.js");
/// Channels and coordinates.
pub(crate) const PICKER: &str = include_str!("page/picker.js");
/// The model, iterated.
pub(crate) const MODEL: &str = include_str!("page/model.js");
/// The model, running.
pub(crate) const LIVE: &str = include_str!("page/live.js");
