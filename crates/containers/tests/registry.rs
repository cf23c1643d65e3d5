//! Images come from real registries and from layouts on disk; registries that lie are found out.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod support;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use containers::image::{Digest, ImageStore, StoreSettings};
use containers::{Credentials, Error, Login, PullPolicy, Sensitive};
use serde_json::json;
use support::image::{Image, Layer, architecture, descriptor};
use support::liar::{Asked, honest, reply, serve};
use support::registry::Registry;

struct Store {
    images: ImageStore,
    folder: tempfile::TempDir,
}

impl Store {
    fn new(change: impl FnOnce(&mut StoreSettings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = StoreSettings::default();
        settings.registry.idle = Duration::from_millis(300);
        change(&mut settings);
        Self { images: ImageStore::open(folder.path(), settings).unwrap(), folder }
    }

    async fn pull(&self, image: &str) -> Result<containers::image::Image, Error> {
        self.pull_as(image, &[]).await
    }

    async fn pull_as(
        &self,
        image: &str,
        credentials: &[Credentials],
    ) -> Result<containers::image::Image, Error> {
        self.images.pull(image, PullPolicy::Always, credentials, "test", &|_| {}).await
    }

    /// Files of layers that are left: none after a refusal.
    fn layers(&self) -> usize {
        let count = |folder: &str| std::fs::read_dir(self.folder.path().join(folder)).unwrap().count();
        count("layers") + count("unpacking")
    }
}

fn small(text: &str) -> Image {
    Image::new(vec![Layer::new().file("text", 0o644, text.as_bytes()).tar()], json!({ "Cmd": ["/text"] }))
}

/// Not compressible, so that a download has many pieces.
fn large() -> Image {
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(1 << 20)
    .collect();
    Image::new(vec![Layer::new().file("noise", 0o644, &noise).tar()], json!({}))
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_pulled_from_a_real_registry_shared_and_collected() {
    if !support::can_run() {
        return;
    }
    let registry = Registry::start();
    let base = Layer::new().file("base", 0o644, &[7; 100_000]).tar();
    let image = |text: &str| {
        Image::new(vec![base.clone(), Layer::new().file("text", 0o644, text.as_bytes()).tar()], json!({}))
    };
    let first = registry.push("team/web", "1", &image("one"));
    let second = registry.push("team/web", "2", &image("two"));
    let store = Store::new(|settings| settings.most_bytes = 100_000);
    let one = store.pull(&first).await.unwrap();
    let two = store.pull(&second).await.unwrap();
    assert_eq!(one.layers[0], two.layers[0]);
    assert_eq!(store.layers(), 3, "the base layer is there once");
    let text =
        |layer: &Digest| std::fs::read_to_string(store.images.layer_folder(layer).join("text")).unwrap();
    assert_eq!((text(&one.layers[1]), text(&two.layers[1])), ("one".to_owned(), "two".to_owned()));

    // In use, nothing goes; then the least recently used goes, and layers that nobody else has with it.
    assert_eq!(store.images.collect().await.unwrap(), Vec::<String>::new());
    store.images.unpin("test");
    assert_eq!(store.images.collect().await.unwrap(), [first.clone(), second]);
    assert_eq!((store.layers(), store.images.size().unwrap()), (0, 0));

    // By digest, it is asked for once; a manifest list is resolved to this machine's image.
    let by_digest = format!("{}/team/web@{}", registry.address, image("one").digest());
    store.pull(&by_digest).await.unwrap();
    let mut ours = descriptor(&image("one").manifest, "application/vnd.oci.image.manifest.v1+json");
    ours["platform"] = json!({ "os": "linux", "architecture": architecture() });
    let mut other = ours.clone();
    other["platform"]["architecture"] = json!("s390x");
    let media_type = "application/vnd.oci.image.index.v1+json";
    let index = |manifests| {
        json!({ "schemaVersion": 2, "mediaType": media_type, "manifests": manifests }).to_string()
    };
    registry.push_manifest("team/web", "list", index(json!([other, ours])).as_bytes(), media_type);
    registry.push_manifest("team/web", "other", index(json!([other])).as_bytes(), media_type);
    let listed = store.pull(&format!("{}/team/web:list", registry.address)).await.unwrap();
    assert_eq!(listed.digest, image("one").digest());
    let error = store.pull(&format!("{}/team/web:other", registry.address)).await.unwrap_err();
    let machine = format!("linux/{}", architecture());
    let reference = format!("{}/team/web:other", registry.address);
    let offered = vec!["linux/s390x".to_owned()];
    assert_eq!(error, Error::WrongArchitecture { image: reference, machine, offered });

    // What is missing is told in the registry's words.
    let missing = format!("{}/team/web:9", registry.address);
    let error = store.pull(&missing).await.unwrap_err();
    let reason = "MANIFEST_UNKNOWN: manifest unknown".to_owned();
    assert_eq!(error, Error::ImageNotFound { image: missing, reason });
}

#[tokio::test]
async fn a_layout_on_disk_and_an_archive_are_images_too() {
    if !support::is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let layout = folder.path().join("layout");
    small("hello").write_layout(&layout, "v1");
    let archive = folder.path().join("image.tar");
    let mut builder = tar::Builder::new(std::fs::File::create(&archive).unwrap());
    builder.append_dir_all(".", &layout).unwrap();
    builder.finish().unwrap();
    let store = Store::new(|_| {});
    for reference in [format!("oci:{}", layout.display()), format!("oci-archive:{}:v1", archive.display())] {
        assert_eq!(store.pull(&reference).await.unwrap().digest, small("hello").digest());
    }
    let error = store.pull(&format!("oci:{}:v2", layout.display())).await.unwrap_err();
    assert!(error.to_string().ends_with(r#"was not found: the layout has the tags ["v1"]"#), "{error}");
    // A blob that was changed on disk is found out.
    let blob = layout.join("blobs/sha256").join(Digest::of(&small("hello").blobs[0]).hex());
    std::fs::OpenOptions::new().append(true).open(blob).unwrap().write_all(b"x").unwrap();
    let fresh = Store::new(|_| {});
    let error = fresh.pull(&format!("oci:{}", layout.display())).await.unwrap_err();
    assert!(matches!(error, Error::DigestMismatch { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_download_is_resumed_where_it_stopped() {
    if !support::is_root() {
        return;
    }
    let ranges = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = ranges.clone();
    let address = serve(move |asked, stream| {
        let image = large();
        if !asked.path.ends_with(Digest::of(&image.blobs[0]).hex()) {
            return honest(&image, asked, stream);
        }
        let blob = &image.blobs[0];
        let range = asked.headers.lines().find_map(|line| line.strip_prefix("range: bytes="));
        let start: usize = range.map_or(0, |range| range.trim_end_matches('-').parse().unwrap());
        seen.lock().unwrap().push(start);
        let end = (start + 400_000).min(blob.len());
        let rest = blob.len() - start;
        let status = if start > 0 { "206 Partial Content" } else { "200 OK" };
        let range = format!("bytes {start}-{}/{}", blob.len() - 1, blob.len());
        // Announces all of it and hangs up early.
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {rest}\r\nContent-Range: {range}\r\n\r\n");
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&blob[start..end]));
    });
    let store = Store::new(|_| {});
    store.pull(&format!("{address}/noise:1")).await.unwrap();
    let ranges = ranges.lock().unwrap();
    assert!(
        ranges.len() >= 3 && ranges.is_sorted(),
        "each part begins where the last one stopped: {ranges:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn registries_that_lie_are_found_out() {
    if !support::is_root() {
        return;
    }
    let lie = |answer: fn(&Asked, &mut std::net::TcpStream)| async move {
        let address = serve(answer);
        let store = Store::new(|_| {});
        let error = store.pull(&format!("{address}/web:1")).await.unwrap_err();
        assert_eq!(store.layers(), 0, "nothing is left of it");
        error.to_string().replace(&address.to_string(), "REGISTRY")
    };
    let is_layer = |asked: &Asked| asked.path.ends_with(Digest::of(&small("a").blobs[0]).hex());
    assert!(is_layer(&Asked {
        path: Digest::of(&small("a").blobs[0]).hex().to_owned(),
        headers: String::new()
    }));

    let error = lie(|asked, stream| {
        let mut image = small("a");
        if asked.path.ends_with(Digest::of(&image.blobs[0]).hex()) {
            image.blobs[0][20] ^= 1;
            return reply(stream, "200 OK", "", &image.blobs[0]);
        }
        honest(&image, asked, stream);
    })
    .await;
    assert!(error.starts_with("a layer of image REGISTRY/web:1 has digest sha256:"), "{error}");

    let error = lie(|asked, stream| {
        let image = small("a");
        if asked.path.ends_with(Digest::of(&image.blobs[0]).hex()) {
            return reply(stream, "200 OK", "", &[&image.blobs[0][..], b"more"].concat());
        }
        honest(&image, asked, stream);
    })
    .await;
    assert!(error.contains("a layer is larger than the"), "{error}");

    let error = lie(|asked, stream| match asked.path.contains("/manifests/") {
        true => reply(
            stream,
            "200 OK",
            &format!("Docker-Content-Digest: {}\r\n", Digest::of(b"something else")),
            &small("a").manifest,
        ),
        false => honest(&small("a"), asked, stream),
    })
    .await;
    assert!(error.starts_with("the manifest of image REGISTRY/web:1 has digest"), "{error}");

    let error = lie(|asked, stream| {
        reply(stream, "307 Temporary Redirect", &format!("Location: {}x\r\n", asked.path), b"");
    })
    .await;
    assert_eq!(error, "image REGISTRY/web:1 is refused: the registry redirects more than 5 times");

    let error = lie(|_, stream| {
        reply(stream, "307 Temporary Redirect", "Location: http://192.0.2.1/secret\r\n", b"");
    })
    .await;
    let reason = r#"the registry redirects to "http://192.0.2.1/secret", which is not HTTPS"#;
    assert_eq!(error, format!("image REGISTRY/web:1 is refused: {reason}"));

    let error = lie(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{");
        std::thread::sleep(Duration::from_secs(5));
    })
    .await;
    assert_eq!(error, "registry REGISTRY can't be used: no byte came for 0.3 s");

    let error = lie(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b' '; 65_536]).is_ok() {}
    })
    .await;
    assert_eq!(
        error,
        format!("image REGISTRY/web:1 is refused: its manifest is larger than {} bytes", 4 << 20)
    );

    let error = lie(|asked, stream| {
        // The manifest and the config are honest; the layer is not what the config says it is.
        let (image, other) = (small("a"), small("b"));
        let mut manifest: serde_json::Value = serde_json::from_slice(&image.manifest).unwrap();
        let of_other: serde_json::Value = serde_json::from_slice(&other.manifest).unwrap();
        manifest["layers"] = of_other["layers"].clone();
        let blobs = vec![other.blobs[0].clone(), image.blobs[1].clone()];
        honest(&Image { blobs, manifest: manifest.to_string().into_bytes() }, asked, stream);
    })
    .await;
    assert!(error.starts_with("an uncompressed layer of image REGISTRY/web:1 has digest"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_bytes_end_at_the_deadline_of_the_image() {
    if !support::is_root() {
        return;
    }
    let address = serve(|asked, stream| {
        let image = large();
        if !asked.path.ends_with(Digest::of(&image.blobs[0]).hex()) {
            return honest(&image, asked, stream);
        }
        let blob = &image.blobs[0];
        let _ =
            stream.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", blob.len()).as_bytes());
        // Never idle for long, and never done.
        for byte in blob {
            if stream.write_all(&[*byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let store = Store::new(|settings| settings.registry.total = Duration::from_secs(1));
    let error = store.pull(&format!("{address}/noise:1")).await.unwrap_err().to_string();
    assert!(error.ends_with("can't be used: the image was not complete after 1 s"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_server_is_asked_and_wrong_passwords_are_told() {
    if !support::is_root() {
        return;
    }
    let address = serve(|asked, stream| {
        let host = asked.headers.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned();
        if asked.path.starts_with("/token") {
            // me:secret
            let is_known = asked.headers.contains("authorization: basic bwu6c2vjcmv0");
            let is_scoped =
                asked.path.contains("scope=repository:team/web:pull") && asked.path.contains("service=here");
            return match is_known && is_scoped {
                true => reply(stream, "200 OK", "", br#"{"token":"t0ken"}"#),
                false => reply(stream, "401 Unauthorized", "", b"{}"),
            };
        }
        if asked.headers.contains("authorization: bearer t0ken") {
            return honest(&small("private"), asked, stream);
        }
        let challenge = format!(
            "WWW-Authenticate: Bearer realm=\"http://{host}/token\",service=\"here\",scope=\"repository:team/web:pull\"\r\n"
        );
        reply(
            stream,
            "401 Unauthorized",
            &challenge,
            br#"{"errors":[{"code":"DENIED","message":"who are you?"}]}"#,
        );
    });
    let login = |password: &str| Credentials {
        registry: address.to_string(),
        login: Login::Basic {
            username: "me".to_owned(),
            password: Sensitive::from(password.as_bytes().to_vec()),
        },
    };
    let store = Store::new(|_| {});
    let image = format!("{address}/team/web:1");
    store.pull_as(&image, &[login("secret")]).await.unwrap();
    let error = store.pull_as(&image, &[login("wrong")]).await.unwrap_err();
    let reason = format!("token server {address} answers 401 Unauthorized");
    assert_eq!(error, Error::Unauthorized { image, reason });
    assert!(!format!("{:?}", login("secret")).contains("secret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn mirrors_are_asked_first_and_the_registry_after_them() {
    if !support::is_root() {
        return;
    }
    let asked_mirror = Arc::new(AtomicU32::new(0));
    let count = asked_mirror.clone();
    let mirror = serve(move |_, stream| {
        count.fetch_add(1, Ordering::SeqCst);
        reply(stream, "404 Not Found", "", b"");
    });
    let registry = serve(|asked, stream| honest(&small("mirrored"), asked, stream));
    let store = Store::new(|settings| {
        settings.registry.mirrors.insert(registry.to_string(), vec![mirror.to_string()]);
    });
    store.pull(&format!("{registry}/web:1")).await.unwrap();
    assert_eq!(asked_mirror.load(Ordering::SeqCst), 1);
}
