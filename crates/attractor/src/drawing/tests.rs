//! One small drawing in all three formats.

use super::*;

fn drawing() -> Drawing {
    let mut drawing = Drawing::new(72.0, 36.0);
    let frame = Frame {
        left: 36.0,
        top: 0.0,
        width: 36.0,
        height: 18.0,
    };
    drawing.area(frame.outline(), Colour::BLUE, None);
    let across = Path::through([(0.0, 27.0), (72.0, 27.0)]);
    drawing.line(across, Stroke::new(Colour::VERMILION, 4.0), Some(frame));
    drawing.text(Text::new("α < 1", (4.0, 12.0), 8.0));
    drawing.items.push(Item::Image(Image {
        frame: Frame {
            left: 0.0,
            top: 20.0,
            width: 36.0,
            height: 16.0,
        },
        columns: 2,
        cells: vec![Colour::GREEN, Colour::PAPER],
    }));
    drawing
}

/// Rows of red, green and blue of a PNG as this program writes it, with width and height.
fn pixels(file: &[u8]) -> (usize, usize, Vec<[u8; 3]>) {
    let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let (columns, rows) = (number(16), number(20));
    let data = &file[41..41 + number(33)];
    let mut raw = Vec::new();
    let mut decoder = flate2::read::ZlibDecoder::new(data);
    std::io::Read::read_to_end(&mut decoder, &mut raw).unwrap();
    let mut above = vec![0u8; 3 * columns];
    let mut found = Vec::new();
    for row in raw.chunks_exact(3 * columns + 1) {
        assert_eq!(row[0], 2);
        above
            .iter_mut()
            .zip(&row[1..])
            .for_each(|(v, d)| *v = v.wrapping_add(*d));
        found.extend(above.chunks_exact(3).map(|p| [p[0], p[1], p[2]]));
    }
    (columns, rows, found)
}

#[test]
fn a_png_has_its_size_and_its_colours() {
    let file = png(&drawing(), 144.0);
    assert!(file.starts_with(b"\x89PNG\r\n\x1a\n") && file.ends_with(b"IEND\xaeB`\x82"));
    let (columns, rows, found) = pixels(&file);
    assert_eq!((columns, rows, found.len()), (144, 72, 144 * 72));
    let at = |x: usize, y: usize| found[y * columns + x];
    let bytes = |c: Colour| [c.r, c.g, c.b];
    assert_eq!(at(100, 10), bytes(Colour::BLUE));
    // The line lies outside what is seen of it.
    assert_eq!(at(100, 54), bytes(Colour::PAPER));
    assert_eq!(at(10, 60), bytes(Colour::GREEN));
    assert_eq!(at(50, 60), bytes(Colour::PAPER));
    let inked = (0..36)
        .flat_map(|y| (0..72).map(move |x| (x, y)))
        .filter(|&(x, y)| at(x, y)[0] < 128);
    assert!(inked.count() > 40, "no words");
}

/// One byte per cell and three per colour, where three per cell are the same picture.
#[test]
fn cells_of_few_colours_have_a_palette() {
    let image = |shades: u8| Image {
        frame: Frame {
            left: 0.0,
            top: 0.0,
            width: 1.0,
            height: 1.0,
        },
        columns: 32,
        cells: (0..1024u32)
            .map(|i| Colour {
                r: (i % u32::from(shades)) as u8,
                g: (i / 256) as u8,
                b: 7,
            })
            .collect(),
    };
    let few = png::of_cells(&image(8));
    let header = 8 + 8;
    assert_eq!((few[header + 8], few[header + 9]), (8, 3));
    let place = few.windows(4).position(|w| w == b"PLTE").unwrap();
    let length = u32::from_be_bytes(few[place - 4..place].try_into().unwrap());
    assert_eq!(length, 3 * 8 * 4);
    let colours = &few[place + 4..][..length as usize];
    let data = few.windows(4).position(|w| w == b"IDAT").unwrap();
    let length = u32::from_be_bytes(few[data - 4..data].try_into().unwrap());
    let mut raw = Vec::new();
    let mut decoder = flate2::read::ZlibDecoder::new(&few[data + 4..][..length as usize]);
    std::io::Read::read_to_end(&mut decoder, &mut raw).unwrap();
    let mut found = Vec::new();
    for row in raw.chunks_exact(33) {
        assert_eq!(row[0], 1);
        let mut left = 0u8;
        for d in &row[1..] {
            left = left.wrapping_add(*d);
            let at = 3 * usize::from(left);
            found.push([colours[at], colours[at + 1], colours[at + 2]]);
        }
    }
    let cells = image(8).cells;
    assert!(cells.iter().map(|c| [c.r, c.g, c.b]).eq(found));
    let many = png::of_cells(&image(200));
    assert_eq!((many[header + 8], many[header + 9]), (8, 2));
}

#[test]
fn an_svg_says_its_size_and_its_words() {
    let text = svg(&drawing());
    assert!(
        text.contains("width=\"25.4mm\" height=\"12.7mm\" viewBox=\"0 0 72 36\""),
        "{text}"
    );
    assert!(text.contains("aria-label=\"α &lt; 1\"") && text.contains("clip-path=\"url(#c0)\""));
    assert!(text.contains("data:image/png;base64,iVBORw0KGgo"));
}

/// Of rounded differences the sum is what it was before they were rounded: 300 steps of 1/3 of a hundredth are one point.
#[test]
fn paths_are_written_by_their_steps() {
    let path = |points: &[Point]| Path::through(points.iter().copied());
    let of = |path: Path| {
        let mut drawing = Drawing::new(10.0, 10.0);
        drawing.line(path, Stroke::new(Colour::BLUE, 1.0), None);
        let text = svg(&drawing);
        let from = text.find("<path d=\"").expect("a path") + 9;
        text[from..].split('"').next().unwrap().to_string()
    };
    let corners = [(1.0, 2.0), (1.5, 2.0), (1.5, 1.93), (0.0, 12.0)];
    assert_eq!(of(path(&corners).closed()), "M1 2l.5 0 0-.07-1.5 10.07z");
    let slow: Vec<Point> = (0..=300).map(|i| (f64::from(i) / 300.0, 0.0)).collect();
    let text = of(path(&slow));
    let steps = text.trim_start_matches("M0 0l").replace(" 0", "");
    let steps = steps.split(' ').filter(|word| !word.is_empty());
    let sum: f64 = steps.map(|word| word.parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{text}");
}

#[test]
fn a_pdf_has_one_page_of_its_size() {
    let file = pdf(&drawing());
    let text = String::from_utf8_lossy(&file);
    assert!(text.starts_with("%PDF-1.7") && text.trim_end().ends_with("%%EOF"));
    assert!(text.contains("/MediaBox [0 0 72 36]") && text.contains("/Count 1"));
    assert!(text.contains("/Width 2") && text.contains("/Height 1"));
}

#[test]
fn words_cover_what_their_outlines_do() {
    for text in [
        Text::new("Hpq", (10.0, 20.0), 10.0).anchored(0.5),
        Text::new("Hpq", (10.0, 20.0), 10.0).anchored(1.0).upward(),
    ] {
        let frame = text.frame();
        let inside = |(x, y): Point| {
            x >= frame.left - 0.1
                && x <= frame.right() + 0.1
                && y >= frame.top
                && y <= frame.bottom()
        };
        assert!(text.path().segments.iter().all(|s| match *s {
            Segment::Move(p) | Segment::Line(p) | Segment::Cubic(_, _, p) => inside(p),
            Segment::Close => true,
        }));
    }
}

#[test]
fn what_is_not_finite_interrupts_a_line() {
    let path = Path::through([
        (0.0, 0.0),
        (1.0, 1.0),
        (2.0, f64::NAN),
        (3.0, 1.0),
        (4.0, 2.0),
    ]);
    let moves = path
        .segments
        .iter()
        .filter(|s| matches!(s, Segment::Move(_)));
    assert_eq!((moves.count(), path.segments.len()), (2, 4));
}
