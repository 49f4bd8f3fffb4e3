/// The media type of a file whose name says that it is an image, video, audio or document: a closed list (behaviour.md
/// 3.2), of which models take most. Such files are read as bytes; all others have to be text. SVG is text. What of these a
/// model is sent is decided by the bytes and by what it can take, not here.
pub(crate) fn media_type(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    let mime = match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "mp4" => "video/mp4",
        "mpeg" | "mpg" => "video/mpeg",
        "mov" => "video/quicktime",
        "avi" => "video/x-msvideo",
        "flv" => "video/x-flv",
        "webm" => "video/webm",
        "wmv" => "video/x-ms-wmv",
        "3gpp" => "video/3gpp",
        // No model is known to take it, and nobody means it as text.
        "mkv" => "video/x-matroska",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "aiff" => "audio/aiff",
        "aac" => "audio/aac",
        "ogg" => "audio/ogg",
        "flac" => "audio/flac",
        "pdf" => "application/pdf",
        "ppt" => "application/vnd.ms-powerpoint",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        _ => return None,
    };
    Some(mime)
}

#[cfg(test)]
mod tests {
    use super::media_type;

    #[test]
    fn names_decide_without_regard_to_case() {
        assert_eq!(media_type("a.PNG"), Some("image/png"));
        assert_eq!(media_type("clip.mkv"), Some("video/x-matroska"));
        assert_eq!(media_type("deck.v2.pptx").map(|mime| mime.ends_with("presentation")), Some(true));
    }

    #[test]
    fn text_and_unknown_names_are_not_media() {
        for name in ["a.svg", "a.json", "Makefile", "png", "report.docx", ".png.txt"] {
            assert_eq!(media_type(name), None, "{name}");
        }
    }
}
