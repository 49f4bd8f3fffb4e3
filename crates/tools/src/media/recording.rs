//! Sound and film, known by how they begin. Only what models say they take is known here.

/// The formats of sound, for a sentence.
pub(super) const SOUND: &str = "WAV, MP3, AIFF, AAC, OGG or FLAC";
/// Those of film.
pub(super) const FILM: &str = "MP4, MOV, 3GPP, MPEG, AVI, FLV, WebM or WMV";

/// The usual name of the format that `mime` names, where `bytes` begin as such a file does.
pub(super) fn sniff(mime: &str, bytes: &[u8]) -> Option<&'static str> {
    let (name, is_one): (_, fn(&[u8]) -> bool) = match mime {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => {
            ("audio/wav", |bytes| is_riff(bytes) && at(bytes, 8, b"WAVE"))
        }
        "audio/mpeg" | "audio/mp3" => ("audio/mpeg", |bytes| bytes.starts_with(b"ID3") || is_mpeg_layer(bytes)),
        "audio/aiff" | "audio/x-aiff" => {
            ("audio/aiff", |bytes| bytes.starts_with(b"FORM") && (at(bytes, 8, b"AIFF") || at(bytes, 8, b"AIFC")))
        }
        "audio/aac" | "audio/x-aac" => ("audio/aac", |bytes| bytes.starts_with(b"ADIF") || is_adts(bytes)),
        "audio/ogg" => ("audio/ogg", |bytes| bytes.starts_with(b"OggS")),
        "audio/flac" | "audio/x-flac" => ("audio/flac", |bytes| bytes.starts_with(b"fLaC")),
        "video/mp4" => ("video/mp4", is_boxes),
        "video/quicktime" | "video/mov" => ("video/quicktime", is_boxes),
        "video/3gpp" => ("video/3gpp", is_boxes),
        // A stream of programs, the bare pictures, and packets of 188 bytes.
        "video/mpeg" | "video/mpg" => ("video/mpeg", |bytes| {
            bytes.starts_with(b"\0\0\x01\xba")
                || bytes.starts_with(b"\0\0\x01\xb3")
                || (at(bytes, 0, b"\x47") && at(bytes, 188, b"\x47"))
        }),
        "video/x-msvideo" | "video/avi" => ("video/x-msvideo", |bytes| is_riff(bytes) && at(bytes, 8, b"AVI ")),
        "video/x-flv" => ("video/x-flv", |bytes| bytes.starts_with(b"FLV")),
        "video/webm" => ("video/webm", |bytes| bytes.starts_with(b"\x1a\x45\xdf\xa3")),
        "video/x-ms-wmv" | "video/wmv" => {
            ("video/x-ms-wmv", |bytes| bytes.starts_with(b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"))
        }
        _ => return None,
    };
    is_one(bytes).then_some(name)
}

fn at(bytes: &[u8], place: usize, wanted: &[u8]) -> bool {
    bytes.get(place..).is_some_and(|rest| rest.starts_with(wanted))
}

fn is_riff(bytes: &[u8]) -> bool {
    bytes.starts_with(b"RIFF")
}

/// A frame of MPEG sound: eleven ones, a version and a layer that there are.
fn is_mpeg_layer(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, second, ..] if second & 0xe0 == 0xe0 && second & 0x18 != 0x08 && second & 0x06 != 0)
}

/// As [`is_mpeg_layer`], with twelve ones and the layer that there is not.
fn is_adts(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, second, ..] if second & 0xf6 == 0xf0)
}

/// Boxes with a length and a name each, of which the first says what the others are; older ones of QuickTime do not.
fn is_boxes(bytes: &[u8]) -> bool {
    [b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"].iter().any(|name| at(bytes, 4, *name))
}
