//! Files that are not read because a line of Python makes them readable: pickles, which run code when they are opened, spreadsheets, and
//! Feather, whose reader would take longer to build than all others.

use std::path::Path;

use super::Fault;

/// Extensions, what such files are, and the line.
const KINDS: [(&[&str], &str, &str); 3] = [
    (
        &["pkl", "pickle", "joblib"],
        "Python pickles (they run code when opened)",
        "import numpy as np, pickle; np.save('x.npy', pickle.load(open('x.pkl', 'rb'), encoding='latin1')['signal'])",
    ),
    (
        &["xlsx", "xls", "xlsm", "ods"],
        "spreadsheets",
        "import pandas; pandas.read_excel('x.xlsx').to_csv('x.csv', index=False); or save the sheet as CSV",
    ),
    (
        &["feather", "arrow", "ipc"],
        "Arrow and Feather",
        "import pyarrow.feather as f, pyarrow.parquet as p; p.write_table(f.read_table('x.feather'), 'x.parquet')",
    ),
];

/// The fault that tells the line, if the name is one of these.
pub(super) fn fault(path: &Path) -> Option<Fault> {
    let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
    let kind = KINDS
        .iter()
        .find(|kind| kind.0.contains(&extension.as_str()));
    kind.map(|&(_, what, line)| Fault::Convert { what, line })
}
