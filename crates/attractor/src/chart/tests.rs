//! Pages whose words do not touch one another, whatever the data.

use super::*;

fn chart(low: f64, high: f64) -> Chart {
    let x = Axis::new("time (s)", low, high);
    let y = Axis::new(
        "a quantity (unit)",
        high.min(1e9) * 0.1,
        high.min(1e9) * 3.0,
    );
    let mut chart = Chart::new(x, y).titled("a run with a rather long name that does not fit");
    chart.right = Some(Axis::new("another", -high, high).coloured(Colour::GREEN));
    chart.layers.push(Layer::Line {
        points: vec![(low, high), (high, low)],
        stroke: Stroke::new(Colour::BLUE, 0.8),
        side: Side::Left,
    });
    chart
}

fn page(width: f64) -> Page {
    let charts = [(0.0, 1.0), (-1e-4, 2e-4), (1e6, 5e6), (0.0, 12345.0)];
    let charts = charts.map(|(low, high)| chart(low, high)).to_vec();
    let keys = (0..9).map(|i| {
        let stroke = Stroke::new(Colour::of_line(i), 0.8);
        Key::line(format!("line number {i}"), stroke)
    });
    Page::grid(width, 2, 60.0, charts).with_legend(keys.collect())
}

#[test]
fn words_do_not_touch_and_stay_on_the_page() {
    for width in [240.0, 500.0] {
        let drawing = page(width).draw();
        let frames: Vec<(Frame, &str)> = drawing
            .texts()
            .map(|text| (text.frame(), text.words.as_str()))
            .collect();
        for (i, (one, words)) in frames.iter().enumerate() {
            assert!(
                one.left >= 0.0
                    && one.right() <= width
                    && one.top >= -1.0
                    && one.bottom() <= drawing.height,
                "{words} leaves the page of {width}: {one:?}"
            );
            for (other, others) in &frames[..i] {
                assert!(!one.overlaps(other), "{words} is on {others} at {width}");
            }
        }
    }
}

#[test]
fn frames_of_a_column_line_up() {
    let drawing = page(500.0).draw();
    let clips = drawing.items.iter().filter_map(|item| match item {
        Item::Path { clip, .. } => *clip,
        _ => None,
    });
    let frames: Vec<Frame> = clips.collect();
    assert_eq!(frames.len(), 4);
    assert_eq!(
        (frames[0].left, frames[0].width),
        (frames[2].left, frames[2].width)
    );
    assert_eq!(
        (frames[0].top, frames[0].height),
        (frames[1].top, frames[1].height)
    );
    assert!(!frames[0].overlaps(&frames[1]) && !frames[0].overlaps(&frames[2]));
}

#[test]
fn a_page_of_one_chart_has_no_letter() {
    let letters = |page: &Page| page.draw().texts().filter(|t| t.words.len() == 1).count();
    assert_eq!(
        letters(&Page::stacked(
            240.0,
            60.0,
            vec![Chart::new(
                Axis::new("", 0.0, 1.0).silent(),
                Axis::new("", 0.0, 1.0).silent()
            )]
        )),
        0
    );
    let named = page(500.0).draw();
    let letters: Vec<&str> = named
        .texts()
        .map(|t| t.words.as_str())
        .filter(|w| ["a", "b", "c", "d"].contains(w))
        .collect();
    assert_eq!(letters, ["a", "b", "c", "d"]);
}

#[test]
fn dots_without_a_place_are_left_out() {
    let nan = f64::NAN;
    let mut chart = Chart::new(Axis::new("", 0.0, 1.0), Axis::new("", 0.0, 1.0));
    chart.layers.push(Layer::Dots {
        points: vec![(nan, 0.5, 0.1), (0.5, nan, 0.1), (0.5, 0.5, nan)],
        shape: Shape::Square,
        colour: Colour::BLUE,
        side: Side::Left,
    });
    let drawing = Page::stacked(200.0, 50.0, vec![chart]).draw();
    let filled =
        |item: &&Item| matches!(item, Item::Path { fill: Some(c), .. } if *c == Colour::BLUE);
    assert_eq!(drawing.items.iter().filter(filled).count(), 1);
}
