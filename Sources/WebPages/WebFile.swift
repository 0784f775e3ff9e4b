internal import Identity
internal import Wire

/// A file of the folder `Web`, as it was when the program was built.
package struct WebFile: Sendable {
    /// Relative to the folder: `playground/index.html`.
    package let path: String
    package let content: [UInt8]
    /// The entity tag: the content's SHA-256. Weak, because the router may compress the body (RFC 9110 section 8.8.1).
    package let tag: String

    package init(path: String, content: [UInt8]) {
        self.path = path
        self.content = content
        tag = "W/\"" + Hex.encode(SHA2.digest(of: content)) + "\""
    }

    init(path: String, base64: String) {
        guard let content = Base64.standard.decode(Array(base64.utf8)) else { preconditionFailure("\(path) was embedded wrongly") }
        self.init(path: path, content: content)
    }

    /// All files. The plug-in `EmbedWebPages` generates the list.
    package static var all: [WebFile] { embedded }

    package var contentType: String { Self.types[String(path.split(separator: ".").last ?? "")] ?? "application/octet-stream" }

    /// By the file name's extension.
    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "md": "text/markdown; charset=utf-8", "ts": "text/plain; charset=utf-8",
        "txt": "text/plain; charset=utf-8", "json": "application/json",
        "map": "application/json",
        "webmanifest": "application/manifest+json",
        "svg": "image/svg+xml", "png": "image/png", "webp": "image/webp", "jpg": "image/jpeg", "ico": "image/x-icon",
        "woff2": "font/woff2", "wasm": "application/wasm", "ogg": "audio/ogg", "wav": "audio/wav",
    ]
}
