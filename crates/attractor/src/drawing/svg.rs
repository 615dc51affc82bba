//! A drawing as SVG 1.1: paths, with words as outlines that carry what they say in `aria-label`, and images as embedded PNG.

use super::{Drawing, Frame, Image, Item, POINTS_PER_MM, Path, Point, Segment, Stroke, Text, png};
use crate::digest::base64;
use crate::drawing::Colour;

/// The document.
pub fn svg(drawing: &Drawing) -> String {
    let (w, h) = (drawing.width, drawing.height);
    let (w_mm, h_mm) = (round(w / POINTS_PER_MM), round(h / POINTS_PER_MM));
    let mut body = String::new();
    let mut clips: Vec<Frame> = Vec::new();
    for item in &drawing.items {
        body.push_str(&match item {
            Item::Path {
                path,
                fill,
                stroke,
                clip,
            } => {
                let clip = clip.map(|frame| clip_number(&mut clips, frame));
                path_element(path, *fill, *stroke, clip)
            }
            Item::Text(text) => text_element(text),
            Item::Image(image) => image_element(image),
        });
    }
    let clips: String = clips.iter().enumerate().map(clip_element).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
         width=\"{w_mm}mm\" height=\"{h_mm}mm\" viewBox=\"0 0 {} {}\">\n\
         <defs>\n{clips}</defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n",
        round(w),
        round(h),
    )
}

/// Hundredths of a point are finer than any printer.
fn round(value: f64) -> f64 {
    let hundredths = (value * 100.0).round() / 100.0;
    // −0 is 0.
    hundredths + 0.0
}

fn clip_number(clips: &mut Vec<Frame>, frame: Frame) -> usize {
    let known = clips.iter().position(|clip| *clip == frame);
    known.unwrap_or_else(|| {
        clips.push(frame);
        clips.len() - 1
    })
}

fn clip_element((i, frame): (usize, &Frame)) -> String {
    format!(
        "<clipPath id=\"c{i}\"><rect {}/></clipPath>\n",
        sides(frame)
    )
}

fn sides(frame: &Frame) -> String {
    format!(
        "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
        round(frame.left),
        round(frame.top),
        round(frame.width),
        round(frame.height)
    )
}

fn path_element(
    path: &Path,
    fill: Option<Colour>,
    stroke: Option<Stroke>,
    clip: Option<usize>,
) -> String {
    let clip = clip.map_or(String::new(), |i| format!(" clip-path=\"url(#c{i})\""));
    format!(
        "<path d=\"{}\"{}{clip}/>\n",
        data(path),
        paint(fill, stroke)
    )
}

fn paint(fill: Option<Colour>, stroke: Option<Stroke>) -> String {
    let mut text = match fill {
        Some(colour) => format!(" fill=\"{}\"", colour.hex()),
        None => " fill=\"none\"".to_string(),
    };
    if let Some(stroke) = stroke {
        let (colour, width) = (stroke.colour.hex(), round(stroke.width));
        text += &format!(" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"");
        if let Some((dash, gap)) = stroke.dash {
            text += &format!(" stroke-dasharray=\"{dash} {gap}\"");
        }
    }
    text
}

/// The `d` of a path, with points relative to where the pen is: half as long as with absolute ones. The pen is where it was rounded to, so that what is
/// lost by rounding does not add up. What is nearer than can be seen is left out.
fn data(path: &Path) -> String {
    let mut text = String::new();
    let (mut pen, mut begun) = ((0, 0), (0, 0));
    let mut last = ' ';
    for (i, segment) in path.segments.iter().enumerate() {
        let goes_on = matches!(path.segments.get(i + 1), Some(Segment::Line(_)));
        let (letter, points) = match *segment {
            Segment::Line(p) if goes_on && is_near(p, pen) => continue,
            Segment::Move(p) => ('M', vec![p]),
            Segment::Line(p) => ('l', vec![p]),
            Segment::Cubic(a, b, c) => ('c', vec![a, b, c]),
            Segment::Close => ('z', Vec::new()),
        };
        if letter != last || letter == 'M' {
            text.push(letter);
        }
        last = letter;
        let from = if letter == 'M' { (0, 0) } else { pen };
        for point in points {
            pen = (hundredths(point.0), hundredths(point.1));
            append(&mut text, pen.0 - from.0);
            append(&mut text, pen.1 - from.1);
        }
        match letter {
            'M' => begun = pen,
            'z' => pen = begun,
            _ => {}
        }
    }
    text
}

/// Whether a line that goes on need not stop at a point so near to the pen.
fn is_near((x, y): Point, pen: (i64, i64)) -> bool {
    let is_near = |a: f64, b: i64| (hundredths(a) - b).abs() <= NEAR;
    is_near(x, pen.0) && is_near(y, pen.1)
}

/// A tenth of the width of a line, in hundredths of a point.
const NEAR: i64 = 6;

/// A coordinate in hundredths of a point, finer than any printer.
fn hundredths(value: f64) -> i64 {
    debug_assert!(value.is_finite(), "a point has no place");
    (value * 100.0).round() as i64
}

/// Appends a number of hundredths, with what parts it from a number before it and without digits that say nothing.
fn append(text: &mut String, hundredths: i64) {
    if hundredths >= 0 && text.ends_with(|c: char| c.is_ascii_digit()) {
        text.push(' ');
    }
    let number = format!("{}", hundredths as f64 / 100.0);
    let sign = if hundredths < 0 { "-" } else { "" };
    let size = number.trim_start_matches('-');
    let size = match size.strip_prefix("0.") {
        Some(rest) => format!(".{rest}"),
        None => size.to_string(),
    };
    text.push_str(sign);
    text.push_str(&size);
}

fn text_element(text: &Text) -> String {
    let label = escaped(&text.words);
    let outline = path_element(&text.path(), Some(text.colour), text.stroke(), None);
    format!(
        "<g role=\"img\" aria-label=\"{label}\">{}</g>\n",
        outline.trim_end()
    )
}

fn escaped(words: &str) -> String {
    let escape = |c: char| match c {
        '&' => "&amp;".to_string(),
        '<' => "&lt;".to_string(),
        '>' => "&gt;".to_string(),
        '"' => "&quot;".to_string(),
        c if c.is_control() => " ".to_string(),
        c => c.to_string(),
    };
    words.chars().map(escape).collect()
}

fn image_element(image: &Image) -> String {
    let file = png::of_cells(image);
    format!(
        "<image {} preserveAspectRatio=\"none\" image-rendering=\"pixelated\" xlink:href=\"data:image/png;base64,{}\"/>\n",
        sides(&image.frame),
        base64(&file)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped() {
        assert_eq!(escaped("a<b & \"c\"\n"), "a&lt;b &amp; &quot;c&quot; ");
    }
}
