//! Annotations of EDF+, as lists of texts with a time in front, in the bytes of a signal:
//!
//! ```text
//! +onset[\x15duration]\x14text\x14text\x14…\0
//! ```
//!
//! The first list of a record has an empty text, and its onset is when the record starts.

/// A remark on a stretch of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// When it begins, in seconds from the start of the recording.
    pub onset: f64,
    /// How long it lasts, in seconds, if that is said.
    pub duration: Option<f64>,
    /// The remark.
    pub text: String,
}

/// When a record starts, by the first list of its annotations.
pub(super) fn onset(bytes: &[u8]) -> Option<f64> {
    let (time, texts) = lists(bytes).next()?;
    texts.first().filter(|text| text.is_empty())?;
    Some(times(time)?.0)
}

/// The annotations of a record; lists that are not understood are left out.
pub(super) fn of_record(bytes: &[u8]) -> Vec<Annotation> {
    let list = |(time, texts): (&[u8], Vec<&[u8]>)| {
        let (onset, duration) = times(time)?;
        let said = texts.into_iter().filter(|text| !text.is_empty());
        let annotation = |text| Annotation {
            onset,
            duration,
            text: String::from_utf8_lossy(text).into_owned(),
        };
        Some(said.map(annotation).collect::<Vec<_>>())
    };
    lists(bytes).filter_map(list).flatten().collect()
}

/// Each list's time and texts.
fn lists(bytes: &[u8]) -> impl Iterator<Item = (&[u8], Vec<&[u8]>)> {
    let lists = bytes
        .split(|&byte| byte == 0)
        .filter(|list| !list.is_empty());
    lists.filter_map(|list| {
        let list = list.strip_suffix(b"\x14")?;
        let mut parts = list.split(|&byte| byte == 0x14);
        Some((parts.next()?, parts.collect()))
    })
}

/// Onset and duration.
fn times(text: &[u8]) -> Option<(f64, Option<f64>)> {
    let text = std::str::from_utf8(text).ok()?;
    let (onset, duration) = match text.split_once('\x15') {
        Some((onset, duration)) => (onset, Some(duration)),
        None => (text, None),
    };
    let number = |text: &str| text.parse().ok().filter(|v: &f64| v.is_finite());
    let signed = onset.starts_with(['+', '-']);
    let onset = number(onset).filter(|_| signed)?;
    Some((onset, duration.and_then(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_onset_duration_and_texts() {
        let bytes = b"+12.5\x14\x14\0+13\x150.25\x14rest\x14eyes shut\x14\0-1\x14early\x14\0\0\0";
        assert_eq!(onset(bytes), Some(12.5));
        let found = of_record(bytes);
        let said: Vec<_> = found
            .iter()
            .map(|a| (a.onset, a.duration, a.text.as_str()))
            .collect();
        let expected = [
            (13.0, Some(0.25), "rest"),
            (13.0, Some(0.25), "eyes shut"),
            (-1.0, None, "early"),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn what_is_no_list_is_left_out() {
        for bytes in [
            &b""[..],
            b"\0\0",
            b"12\x14\x14\0",
            b"+x\x14\x14",
            b"+1",
            b"\x14",
        ] {
            assert_eq!(
                (onset(bytes), of_record(bytes).len()),
                (None, 0),
                "{bytes:?}"
            );
        }
        // The first list of a record has no text of its own.
        assert_eq!(onset(b"+3\x14seizure\x14\0"), None);
    }
}
