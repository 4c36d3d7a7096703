fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Splitting lazy panes into chunks needs relocations. Only this cdylib asks for them, because a
    // global RUSTFLAGS would rebuild every dependency.
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--emit-relocs");
    }
}
