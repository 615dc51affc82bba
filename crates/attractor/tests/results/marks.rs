//! What stands on a page between `<!-- results: QUERY -->` and `<!-- end -->` is made from the scores.

const BEGIN: &str = "<!-- results: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";

/// The page with all marks filled by what their queries give.
pub(super) fn filled(page: &str, answer: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, marked)) = rest.split_once(BEGIN) {
        let (query, marked) = marked.split_once(CLOSE).expect("a mark is closed");
        let (old, after) = marked
            .split_once(END)
            .unwrap_or_else(|| panic!("`{query}` has no {END}"));
        assert!(!old.contains(BEGIN), "`{query}` has no {END}");
        let made = answer(query);
        let begins_a_line = before.trim_end_matches(' ').ends_with('\n') || before.is_empty();
        assert!(
            made.starts_with('\n') == begins_a_line,
            "`{query}`: in Markdown a comment at the beginning of a line ends the paragraph, and a table needs lines of its own"
        );
        text += &[before, BEGIN, query, CLOSE, &made, END].concat();
        rest = after;
    }
    text + rest
}

#[test]
fn what_stands_between_marks_is_replaced() {
    let page = "a <!-- results: x y -->old<!-- end -->.\n<!-- results: t -->\n<!-- end -->\nb";
    let answer = |query: &str| match query {
        "t" => "\n| T |\n".to_string(),
        number => number.to_uppercase(),
    };
    let text = filled(page, answer);
    assert_eq!(
        text,
        "a <!-- results: x y -->X Y<!-- end -->.\n<!-- results: t -->\n| T |\n<!-- end -->\nb"
    );
    assert_eq!(filled(&text, answer), text);
}

#[test]
#[should_panic(expected = "ends the paragraph")]
fn a_number_at_the_beginning_of_a_line_is_refused() {
    filled("a\n<!-- results: x -->1<!-- end --> b", str::to_string);
}

#[test]
#[should_panic(expected = "`x` has no")]
fn a_mark_without_an_end_is_refused() {
    filled(
        "a <!-- results: x -->1\n<!-- results: y -->2<!-- end -->",
        str::to_string,
    );
}
