//! A drawing as a PDF of one page: paths and images in points, y upward; words are outlines.

use pdf_writer::types::LineJoinStyle;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref};

use super::png::zlib;
use super::{Colour, Drawing, Frame, Image, Item, Path, Segment, Stroke};

/// The file.
pub fn pdf(drawing: &Drawing) -> Vec<u8> {
    let [catalog, tree, page_id, content_id] = [1, 2, 3, 4].map(Ref::new);
    let images: Vec<&Image> = drawing.items.iter().filter_map(as_image).collect();
    let references: Vec<(String, Ref)> = (0..images.len())
        .map(|i| (format!("I{i}"), Ref::new(5 + i as i32)))
        .collect();
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(tree);
    pdf.pages(tree).kids([page_id]).count(1);
    let mut page = pdf.page(page_id);
    page.media_box(Rect::new(
        0.0,
        0.0,
        drawing.width as f32,
        drawing.height as f32,
    ));
    page.parent(tree).contents(content_id);
    let mut resources = page.resources();
    let mut objects = resources.x_objects();
    for (name, reference) in &references {
        objects.pair(Name(name.as_bytes()), *reference);
    }
    objects.finish();
    resources.finish();
    page.finish();
    let content = zlib(&content(drawing));
    pdf.stream(content_id, &content).filter(Filter::FlateDecode);
    for (image, (_, reference)) in images.into_iter().zip(references) {
        store(&mut pdf, reference, image);
    }
    pdf.finish()
}

fn as_image(item: &Item) -> Option<&Image> {
    match item {
        Item::Image(image) => Some(image),
        _ => None,
    }
}

fn store(pdf: &mut Pdf, reference: Ref, image: &Image) {
    let bytes = zlib(&image.bytes());
    let mut object = pdf.image_xobject(reference, &bytes);
    object.filter(Filter::FlateDecode);
    object.width(image.columns as i32);
    object.height(image.rows() as i32);
    object.color_space().device_rgb();
    object.bits_per_component(8);
    object.interpolate(false);
}

/// What is on the page.
fn content(drawing: &Drawing) -> Vec<u8> {
    let mut content = Content::new();
    // Our y runs down from the upper edge.
    content.transform([1.0, 0.0, 0.0, -1.0, 0.0, drawing.height as f32]);
    content.set_line_join(LineJoinStyle::RoundJoin);
    let mut images = 0;
    for item in &drawing.items {
        match item {
            Item::Path {
                path,
                fill,
                stroke,
                clip,
            } => draw(&mut content, path, *fill, *stroke, *clip),
            Item::Text(text) => {
                draw(
                    &mut content,
                    &text.path(),
                    Some(text.colour),
                    text.stroke(),
                    None,
                );
            }
            Item::Image(image) => {
                place(&mut content, &image.frame, &format!("I{images}"));
                images += 1;
            }
        }
    }
    content.finish().to_vec()
}

fn place(content: &mut Content, frame: &Frame, name: &str) {
    let [w, h, left, bottom] =
        [frame.width, frame.height, frame.left, frame.bottom()].map(|v| v as f32);
    content.save_state();
    // An image fills the unit square with its first row at the top of an upward y.
    content.transform([w, 0.0, 0.0, -h, left, bottom]);
    content.x_object(Name(name.as_bytes()));
    content.restore_state();
}

fn draw(
    content: &mut Content,
    path: &Path,
    fill: Option<Colour>,
    stroke: Option<Stroke>,
    clip: Option<Frame>,
) {
    if path.segments.is_empty() {
        return;
    }
    content.save_state();
    if let Some(frame) = clip {
        outline(content, &frame.outline());
        content.clip_nonzero().end_path();
    }
    let part = |v: u8| f32::from(v) / 255.0;
    if let Some(c) = fill {
        content.set_fill_rgb(part(c.r), part(c.g), part(c.b));
    }
    if let Some(Stroke {
        colour: c,
        width,
        dash,
    }) = stroke
    {
        content.set_stroke_rgb(part(c.r), part(c.g), part(c.b));
        content.set_line_width(width as f32);
        let dash = dash.map(|(dash, gap)| [dash as f32, gap as f32]);
        content.set_dash_pattern(dash.into_iter().flatten(), 0.0);
    }
    outline(content, path);
    match (fill, stroke) {
        (Some(_), Some(_)) => content.fill_nonzero_and_stroke(),
        (Some(_), None) => content.fill_nonzero(),
        (None, Some(_)) => content.stroke(),
        (None, None) => content.end_path(),
    };
    content.restore_state();
}

fn outline(content: &mut Content, path: &Path) {
    for segment in &path.segments {
        let f = |(x, y): (f64, f64)| (x as f32, y as f32);
        match *segment {
            Segment::Move(p) => content.move_to(f(p).0, f(p).1),
            Segment::Line(p) => content.line_to(f(p).0, f(p).1),
            Segment::Cubic(a, b, c) => {
                let ((ax, ay), (bx, by), (cx, cy)) = (f(a), f(b), f(c));
                content.cubic_to(ax, ay, bx, by, cx, cy)
            }
            Segment::Close => content.close_path(),
        };
    }
}
