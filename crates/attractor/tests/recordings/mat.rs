//! MATLAB 5 files.

use std::io::Write;

use super::by_hand::{doubles, element, mat_header, matrix};
use super::*;
use flate2::Compression;
use flate2::write::ZlibEncoder;

fn file(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = mat_header();
    parts.iter().for_each(|part| bytes.extend(part));
    bytes
}

fn packed(part: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(part).unwrap();
    let data = encoder.finish().unwrap();
    let mut bytes = 15u32.to_le_bytes().to_vec();
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes
}

fn read(bytes: &[u8]) -> Result<Series, FormatError> {
    read_as("a.mat", bytes, &ReadOptions::default())
}

fn named(name: &str) -> ReadOptions {
    ReadOptions {
        array: Some(name.into()),
        ..ReadOptions::default()
    }
}

#[test]
fn matrices_are_read_plain_and_compressed() {
    let x = doubles("x", [3, 2], &[1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
    for bytes in [file(std::slice::from_ref(&x)), file(&[packed(&x)])] {
        let series = read(&bytes).unwrap();
        assert_eq!(x_of(&series), [1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
        assert_eq!(names(&series), ["x1", "x2"]);
    }
    let row = doubles("x", [1, 4], &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(x_of(&read(&file(&[row])).unwrap()), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn short_elements_and_stored_types_are_understood() {
    // A class of doubles whose values are stored as bytes in a short element, as MATLAB does with small whole numbers.
    let short = [&[2u8, 0, 3, 0][..], &[7, 8, 9, 0]].concat();
    let x = matrix(6, [3, 1], "x", &[short]);
    assert_eq!(x_of(&read(&file(&[x])).unwrap()), [7.0, 8.0, 9.0]);
}

#[test]
fn structs_and_texts_are_listed_not_read() {
    let list = file(&[
        matrix(2, [1, 1], "s", &[]),
        matrix(1, [1, 2], "c", &[]),
        matrix(4, [1, 3], "t", &[element(2, b"abc")]),
    ]);
    let (message, hint) = said(read(&list));
    assert_eq!(
        message,
        "no array is a table of numbers: s (struct), c (cell array), t (text)"
    );
    assert!(hint.contains("save"));
    let (message, hint) = said(read_as("a.mat", &list, &named("s")));
    assert_eq!(message, "array `s` is a struct, not a table of numbers");
    assert_eq!(
        hint,
        "name one with --array: s (struct), c (cell array), t (text)"
    );
    // Beside a table they do no harm.
    let with = file(&[
        matrix(2, [1, 1], "s", &[]),
        doubles("x", [2, 1], &[1.0, 2.0]),
    ]);
    assert_eq!(read(&with).unwrap().total_len(), 2);
}

#[test]
fn one_of_several_is_chosen_by_name() {
    let two = file(&[
        doubles("a", [2, 1], &[1.0, 2.0]),
        doubles("b", [2, 1], &[3.0, 4.0]),
    ]);
    let (message, hint) = said(read(&two));
    assert_eq!(message, "several arrays could be meant");
    assert_eq!(hint, "name one with --array: a (2 × 1), b (2 × 1)");
    let b = read_as("a.mat", &two, &named("b")).unwrap();
    assert_eq!(x_of(&b), [3.0, 4.0]);
    assert_eq!(
        said(read_as("a.mat", &two, &named("c"))).0,
        "no array is named `c`"
    );
}

#[test]
fn damaged_files_are_told() {
    assert_eq!(said(read(b"")).0, "no data");
    assert_eq!(
        said(read(&[0; 50])).0,
        "expected 128 bytes of header, found 50"
    );
    let (message, _) = said(read(&[b' '; 200]));
    assert!(message.starts_with("expected MATLAB 5"), "{message}");
    let x = file(&[doubles("x", [3, 1], &[1.0, 2.0, 3.0])]);
    assert!(
        said(read(&x[..x.len() - 8]))
            .0
            .contains("bytes of an element, found")
    );
    let huge = file(&[doubles("x", [u32::MAX, u32::MAX], &[1.0])]);
    assert!(
        said(read(&huge))
            .0
            .contains("values by the dimensions of the array, found 1")
    );
    let mut zlib = file(&[packed(&doubles("x", [3, 1], &[1.0, 2.0, 3.0]))]);
    zlib[140] ^= 0xff;
    assert!(said(read(&zlib)).0.starts_with("damaged zlib file"));
}

/// A column takes memory for its name alone, and a byte of the file may stand for a number of eight.
#[test]
fn numbers_and_columns_are_bounded_by_the_size_of_the_file() {
    let none = file(&[
        doubles("x", [0, u32::MAX], &[]),
        doubles("y", [1, 1], &[1.0]),
    ]);
    let (message, _) = said(read_as("a.mat", &none, &named("x")));
    assert_eq!(message, "a series needs at least one row");
    let zeros = |rows: u32, columns: u32| {
        let data = vec![0; (rows * columns) as usize];
        file(&[packed(&matrix(
            6,
            [rows, columns],
            "x",
            &[element(2, &data)],
        ))])
    };
    for (rows, columns) in [(2, 1_000_000), (50_000_000, 1)] {
        let (message, _) = said(read(&zeros(rows, columns)));
        assert!(message.contains("would unfold"), "{message}");
    }
}

#[test]
fn a_bomb_is_not_unfolded() {
    // Half a gigabyte of zeros in half a megabyte, as one column.
    let count = 1u32 << 26;
    let data = matrix(6, [count, 1], "x", &[]);
    let mut head = 14u32.to_le_bytes().to_vec();
    head.extend((8 * count + data.len() as u32).to_le_bytes());
    head.extend(&data[8..]);
    head.extend(9u32.to_le_bytes());
    head.extend((8 * count).to_le_bytes());
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&head).unwrap();
    let zeros = vec![0; 1 << 20];
    (0..512).for_each(|_| encoder.write_all(&zeros).unwrap());
    let data = encoder.finish().unwrap();
    let mut bytes = file(&[]);
    bytes.extend(15u32.to_le_bytes());
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(&data);
    let error = read(&bytes)
        .map(|_| ())
        .expect_err("deflate packs zeros 1 : 1000");
    let message = error.fault.to_string();
    assert!(
        message.contains("unfolds to more than 200 times"),
        "{message}"
    );
}
