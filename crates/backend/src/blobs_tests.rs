use std::os::unix::fs::PermissionsExt;

use pretty_assertions::assert_eq;

use super::*;

fn store() -> (tempfile::TempDir, BlobStore) {
    let top = tempfile::tempdir().unwrap();
    let store = BlobStore::open(top.path().join("data/blobs")).unwrap();
    (top, store)
}

fn noise(length: usize) -> Vec<u8> {
    let mut reader = blake3::Hasher::new().finalize_xof();
    let mut bytes = vec![0; length];
    reader.fill(&mut bytes);
    bytes
}

#[tokio::test]
async fn bytes_come_back_as_they_went() {
    let (_top, store) = store();
    for bytes in [Vec::new(), b"short".to_vec(), b"the same again ".repeat(50_000), noise(3 * SAMPLE + 1)] {
        let hash = store.put(bytes.clone().into()).await.unwrap();
        assert_eq!(hash, ContentHash::of(&bytes));
        assert!(store.contains(&hash).await.unwrap());
        assert_eq!(store.put(bytes.clone().into()).await.unwrap(), hash);
        assert_eq!(store.get(&hash).await.unwrap(), bytes);
    }
    assert_eq!(store.usage().await.unwrap().blobs, 4);
}

#[tokio::test]
async fn what_compresses_is_compressed() {
    let (_top, store) = store();
    store.put(b"line after line\n".repeat(65_536).into()).await.unwrap();
    let text = store.usage().await.unwrap();
    assert!(text.bytes < 10_000, "{text:?}");
    store.put(noise(100_000).into()).await.unwrap();
    let both = store.usage().await.unwrap();
    assert_eq!((both.blobs, both.bytes - text.bytes), (2, 100_009));
}

#[tokio::test]
async fn damage_is_noticed() {
    let (_top, store) = store();
    for bytes in [b"plain".to_vec(), b"packed ".repeat(1000)] {
        let hash = store.put(bytes.clone().into()).await.unwrap();
        let path = store.path(&hash).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len().min(40) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            std::fs::write(&path, &damaged).unwrap();
            match store.get(&hash).await {
                Err(BlobError::Damaged { .. }) => {}
                // Some bits of a compressed frame say nothing about its content.
                Ok(got) => assert!(got == bytes, "byte {at}"),
                Err(other) => panic!("byte {at}: {other}"),
            }
        }
        for length in [0, 1, 8, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(store.get(&hash).await, Err(BlobError::Damaged { .. })), "{length}");
        }
    }
}

#[tokio::test]
async fn only_hashes_name_blobs() {
    let (top, store) = store();
    std::fs::write(top.path().join("secret"), "secret").unwrap();
    let bad =
        ["\"../../secret\"".to_owned(), "\"\"".to_owned(), format!("\"{}\"", "A".repeat(64)), "\"..\"".to_owned()];
    for text in bad {
        let hash: ContentHash = serde_json::from_str(&text).unwrap();
        assert!(matches!(store.get(&hash).await, Err(BlobError::Missing { .. })), "{text}");
        assert!(!store.contains(&hash).await.unwrap());
    }
    assert!(matches!(store.get(&ContentHash::of(b"never")).await, Err(BlobError::Missing { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_of_the_same_bytes() {
    let (top, store) = store();
    let bytes: Arc<[u8]> = noise(10_000).into();
    let puts = (0..50).map(|_| store.put(Arc::clone(&bytes)));
    for put in futures_util::future::join_all(puts).await {
        assert_eq!(put.unwrap(), ContentHash::of(&bytes));
    }
    assert_eq!(store.usage().await.unwrap().blobs, 1);
    let again = BlobStore::open(top.path().join("data/blobs")).unwrap();
    assert_eq!(again.get(&ContentHash::of(&bytes)).await.unwrap(), &*bytes);
}

#[tokio::test]
async fn nobody_else_may_look_in() {
    let (_top, store) = store();
    let hash = store.put(b"kept".to_vec().into()).await.unwrap();
    let path = store.path(&hash).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&store.dir), mode(path.parent().unwrap()), mode(&path)), (0o700, 0o700, 0o600));
}
