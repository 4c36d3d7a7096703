use std::fs;

use sha2::{Digest as _, Sha256};

use super::*;

fn find_in_table(path: &str) -> Option<Asset> {
    let bytes: &[u8] = match path {
        "pkg/boocode_bg.wasm" => b"\0asm",
        "pkg/boocode_bg.wasm.br" => b"compressed",
        "pkg/boocode.css" => b"body{}",
        "favicon.svg" => b"<svg/>",
        _ => return None,
    };
    Some(Asset { bytes: bytes.into(), sha256: Sha256::digest(bytes).into() })
}

fn get(path: &str, request: &[(header::HeaderName, &str)]) -> Response {
    let headers = request.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
    respond(find_in_table, path, &headers)
}

#[test]
fn types_and_encodings() {
    for (path, accept, content_type, encoding) in [
        ("/pkg/boocode_bg.wasm", "gzip, deflate, br", "application/wasm", Some("br")),
        ("/pkg/boocode_bg.wasm", "br;q=1.0, gzip;q=0.5", "application/wasm", Some("br")),
        ("/pkg/boocode_bg.wasm", "*", "application/wasm", Some("br")),
        ("/pkg/boocode_bg.wasm", "*, br;q=0", "application/wasm", None),
        ("/pkg/boocode_bg.wasm", "gzip", "application/wasm", None),
        ("/pkg/boocode_bg.wasm", "brotli", "application/wasm", None),
        ("/pkg/boocode_bg.wasm", "", "application/wasm", None),
        ("/pkg/boocode.css", "br", "text/css; charset=utf-8", None),
        ("/favicon.svg", "br", "image/svg+xml", None),
    ] {
        let response = get(path, &[(header::ACCEPT_ENCODING, accept)]);
        let context = format!("{path} for {accept:?}");
        assert_eq!(response.status(), 200, "{context}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], content_type, "{context}");
        let found = response.headers().get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap());
        assert_eq!(found, encoding, "{context}");
        assert_eq!(response.headers()[header::VARY], "accept-encoding");
        assert_eq!(response.headers()[header::CACHE_CONTROL], "no-cache");
    }
}

#[test]
fn what_the_browser_has_is_not_sent_again() {
    let path = "/pkg/boocode_bg.wasm";
    let tag_of = |accept| get(path, &[(header::ACCEPT_ENCODING, accept)]).headers()[header::ETAG].clone();
    let (brotli, plain) = (tag_of("br"), tag_of("gzip"));
    assert_ne!(brotli, plain, "a tag names bytes, not a file");
    let (brotli, plain) = (brotli.to_str().unwrap(), plain.to_str().unwrap());
    for (seen, status) in [
        (brotli, 304),
        ("*", 304),
        (&*format!("W/{brotli}"), 304),
        (&*format!("\"other\", {brotli}"), 304),
        (plain, 200),
        ("\"other\"", 200),
    ] {
        let response = get(path, &[(header::ACCEPT_ENCODING, "br"), (header::IF_NONE_MATCH, seen)]);
        assert_eq!(response.status(), status, "{seen}");
        assert_eq!(response.headers()[header::ETAG], brotli);
    }
}

#[test]
fn nothing_outside_is_served() {
    // A finder that would follow any path, as a naive handler does.
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("dist/pkg")).unwrap();
    fs::write(folder.path().join("secret.json"), "secret").unwrap();
    fs::write(folder.path().join("dist/pkg/.hidden.js"), "secret").unwrap();
    let dist = folder.path().join("dist");
    let naive = |path: &str| {
        let bytes = fs::read(dist.join(path.trim_start_matches("./"))).ok()?;
        Some(Asset { sha256: [0; 32], bytes: bytes.into() })
    };
    for path in ["/../secret.json", "/pkg/../../secret.json", "/pkg/./../../secret.json", "/pkg/.hidden.js"] {
        assert!(naive(path.strip_prefix('/').unwrap()).is_some(), "control: {path}");
        assert_eq!(respond(naive, path, &HeaderMap::new()).status(), 404, "{path}");
    }
    let absolute = format!("/{}/secret.json", folder.path().display());
    assert!(naive(&absolute[1..]).is_some(), "control: {absolute}");
    for path in [
        &*absolute,
        "/pkg/..%2f..%2fsecret.json",
        "/pkg/..\\secret.json",
        "/pkg//x.js",
        "/pkg/\0.js",
        "/pkg/",
    ] {
        assert_eq!(respond(naive, path, &HeaderMap::new()).status(), 404, "{path:?}");
    }
}

#[test]
fn what_is_not_there_or_not_ours_is_not_found() {
    for path in ["/pkg/missing.js", "/pkg/boocode_bg.wasm.br", "/pkg/Cargo.toml", "", "/"] {
        assert_eq!(get(path, &[]).status(), 404, "{path}");
    }
    assert!(find_in_dist("../Cargo.toml").is_none());
}

/// What a phone asks for to install the app is there, of the type and size that the manifest says.
#[test]
fn the_manifest_names_icons_that_are_there() {
    let public = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../style/public");
    let manifest = fs::read(public.join("manifest.webmanifest")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!((&manifest["display"], &manifest["start_url"]), (&"standalone".into(), &"/".into()));
    assert!(ROOT_FILES.contains(&"/manifest.webmanifest"));
    let mut purposes = Vec::new();
    for icon in manifest["icons"].as_array().unwrap() {
        let (path, sizes) = (icon["src"].as_str().unwrap(), icon["sizes"].as_str().unwrap());
        assert_eq!(parse(path).unwrap().1, icon["type"], "{path}");
        let file = fs::read(public.join(path.trim_start_matches("/pkg").trim_start_matches('/'))).unwrap();
        if sizes == "any" {
            assert!(ROOT_FILES.contains(&path));
            continue;
        }
        // Width and height follow the name of a PNG's first chunk.
        let side = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
        assert_eq!(format!("{}x{}", side(16), side(20)), sizes, "{path}");
        purposes.push((side(16), icon["purpose"].as_str().unwrap_or("any")));
    }
    purposes.sort();
    assert_eq!(purposes, [(192, "any"), (192, "maskable"), (512, "any"), (512, "maskable")]);
    assert!(public.join("icons/apple-touch-icon.png").is_file());
}
