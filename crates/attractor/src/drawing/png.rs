//! A drawing as PNG: drawn with anti-aliasing at some dots per inch on white, then compressed (PNG specification, 3rd edition).

use std::collections::BTreeMap;
use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use tiny_skia::{
    FillRule, FilterQuality, LineJoin, Mask, Paint, PathBuilder, Pixmap, PixmapPaint,
    Stroke as Pen, StrokeDash, Transform,
};

use super::{Colour, Drawing, Frame, Image, Item, Path, Segment, Stroke};

/// The file, at some dots per inch; the size is rounded up to whole dots.
pub fn png(drawing: &Drawing, dots_per_inch: f64) -> Vec<u8> {
    let scale = (dots_per_inch / 72.0) as f32;
    let dots = |length: f64| (length * f64::from(scale)).ceil().max(1.0) as u32;
    let pixels = Pixmap::new(dots(drawing.width), dots(drawing.height));
    let mut canvas = Canvas {
        pixels: pixels.expect("a page has a size, and is smaller than memory"),
        transform: Transform::from_scale(scale, scale),
    };
    canvas.pixels.fill(tiny_skia::Color::WHITE);
    drawing.items.iter().for_each(|item| canvas.draw(item));
    let (w, h) = (canvas.pixels.width(), canvas.pixels.height());
    // On white nothing shines through, so that colours are as they are stored.
    let opaque = canvas.pixels.data().chunks_exact(4);
    let bytes: Vec<u8> = opaque.flat_map(|p| [p[0], p[1], p[2]]).collect();
    encode(&bytes, w as usize, h as usize)
}

struct Canvas {
    pixels: Pixmap,
    transform: Transform,
}

impl Canvas {
    fn draw(&mut self, item: &Item) {
        match item {
            Item::Path {
                path,
                fill,
                stroke,
                clip,
            } => self.path(path, *fill, *stroke, *clip),
            Item::Text(text) => self.path(&text.path(), Some(text.colour), text.stroke(), None),
            Item::Image(image) => self.image(image),
        }
    }

    fn path(
        &mut self,
        path: &Path,
        fill: Option<Colour>,
        stroke: Option<Stroke>,
        clip: Option<Frame>,
    ) {
        let Some(outline) = outline(path) else {
            return;
        };
        let mask = clip.and_then(|frame| self.mask(frame));
        let transform = self.transform;
        if let Some(colour) = fill {
            let paint = paint(colour);
            self.pixels.fill_path(
                &outline,
                &paint,
                FillRule::Winding,
                transform,
                mask.as_ref(),
            );
        }
        if let Some(stroke) = stroke {
            let pen = pen(&stroke);
            self.pixels.stroke_path(
                &outline,
                &paint(stroke.colour),
                &pen,
                transform,
                mask.as_ref(),
            );
        }
    }

    fn mask(&self, frame: Frame) -> Option<Mask> {
        let mut mask = Mask::new(self.pixels.width(), self.pixels.height())?;
        let inside = outline(&frame.outline())?;
        mask.fill_path(&inside, FillRule::Winding, true, self.transform);
        Some(mask)
    }

    fn image(&mut self, image: &Image) {
        let (columns, rows) = (image.columns as u32, image.rows() as u32);
        let Some(mut cells) = Pixmap::new(columns, rows) else {
            return;
        };
        for (pixel, c) in cells.pixels_mut().iter_mut().zip(&image.cells) {
            *pixel = tiny_skia::ColorU8::from_rgba(c.r, c.g, c.b, 255).premultiply();
        }
        let Frame {
            left,
            top,
            width,
            height,
        } = image.frame;
        let cell = (width / f64::from(columns), height / f64::from(rows));
        let place = Transform::from_row(
            cell.0 as f32,
            0.0,
            0.0,
            cell.1 as f32,
            left as f32,
            top as f32,
        );
        let paint = PixmapPaint {
            quality: FilterQuality::Nearest,
            ..PixmapPaint::default()
        };
        let transform = self.transform.pre_concat(place);
        self.pixels
            .draw_pixmap(0, 0, cells.as_ref(), &paint, transform, None);
    }
}

/// None for a path of less than two points.
fn outline(path: &Path) -> Option<tiny_skia::Path> {
    let mut builder = PathBuilder::new();
    let f = |(x, y): (f64, f64)| (x as f32, y as f32);
    for segment in &path.segments {
        match *segment {
            Segment::Move(p) => builder.move_to(f(p).0, f(p).1),
            Segment::Line(p) => builder.line_to(f(p).0, f(p).1),
            Segment::Cubic(a, b, c) => {
                let ((ax, ay), (bx, by), (cx, cy)) = (f(a), f(b), f(c));
                builder.cubic_to(ax, ay, bx, by, cx, cy);
            }
            Segment::Close => builder.close(),
        }
    }
    builder.finish()
}

fn paint(colour: Colour) -> Paint<'static> {
    let mut paint = Paint {
        anti_alias: true,
        ..Paint::default()
    };
    paint.set_color_rgba8(colour.r, colour.g, colour.b, 255);
    paint
}

fn pen(stroke: &Stroke) -> Pen {
    let dash = stroke
        .dash
        .and_then(|(dash, gap)| StrokeDash::new(vec![dash as f32, gap as f32], 0.0));
    Pen {
        width: stroke.width as f32,
        line_join: LineJoin::Round,
        dash,
        ..Pen::default()
    }
}

/// Red, green and blue bytes as a PNG file.
fn encode(bytes: &[u8], columns: usize, rows: usize) -> Vec<u8> {
    let mut file = begun(columns, rows, 2);
    chunk(&mut file, b"IDAT", &zlib(&filtered(bytes, 3 * columns)));
    chunk(&mut file, b"IEND", &[]);
    file
}

/// The cells of an image as a PNG file, by a palette where they have few colours, as those of fields do: a fifth as large.
pub(super) fn of_cells(image: &Image) -> Vec<u8> {
    // Along the maps of fields this order is nearly that of the numbers, so that cells beside one another differ by little.
    let key = |c: &Colour| (i16::from(c.r) - i16::from(c.b), c.g, c.r);
    let palette: BTreeMap<(i16, u8, u8), Colour> =
        image.cells.iter().map(|c| (key(c), *c)).collect();
    if palette.len() > 256 {
        return encode(&image.bytes(), image.columns, image.rows());
    }
    let places: BTreeMap<(i16, u8, u8), u8> = palette.keys().copied().zip(0..=255).collect();
    let indices: Vec<u8> = image.cells.iter().map(|c| places[&key(c)]).collect();
    let colours: Vec<u8> = palette.values().flat_map(|c| [c.r, c.g, c.b]).collect();
    let mut file = begun(image.columns, image.rows(), 3);
    chunk(&mut file, b"PLTE", &colours);
    chunk(
        &mut file,
        b"IDAT",
        &zlib(&along_rows(&indices, image.columns)),
    );
    chunk(&mut file, b"IEND", &[]);
    file
}

/// What a file begins with: 8 bits of a kind of colours, deflate, filters by row, not interlaced.
fn begun(columns: usize, rows: usize, colours: u8) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend((columns as u32).to_be_bytes());
    header.extend((rows as u32).to_be_bytes());
    header.extend([8, colours, 0, 0, 0]);
    chunk(&mut file, b"IHDR", &header);
    file
}

/// Every byte as its difference from the one before it in its row: filter 1 (sub).
fn along_rows(bytes: &[u8], width: usize) -> Vec<u8> {
    let mut rows = Vec::with_capacity(bytes.len() + bytes.len() / width);
    for row in bytes.chunks_exact(width) {
        rows.push(1);
        let before = std::iter::once(&0).chain(row);
        rows.extend(
            row.iter()
                .zip(before)
                .map(|(v, left)| v.wrapping_sub(*left)),
        );
    }
    rows
}

/// Every row as its difference from the row above, which compresses well for figures: filter 2 (up).
fn filtered(bytes: &[u8], width: usize) -> Vec<u8> {
    let mut rows = Vec::with_capacity(bytes.len() + bytes.len() / width);
    let mut above = vec![0; width];
    for row in bytes.chunks_exact(width) {
        rows.push(2);
        rows.extend(row.iter().zip(&above).map(|(v, up)| v.wrapping_sub(*up)));
        above.copy_from_slice(row);
    }
    rows
}

/// Bytes compressed as PNG and PDF have them.
pub(super) fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail")
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    let mut crc = Crc::new();
    crc.update(name);
    crc.update(data);
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(name);
    file.extend(data);
    file.extend(crc.sum().to_be_bytes());
}
