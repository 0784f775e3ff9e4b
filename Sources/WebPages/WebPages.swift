package import HTTPServer
internal import HTTPTypes
internal import Sockets

/// The routes of the gateway's own web pages: the pages' addresses, and `/web/…`, all files of the folder `Web`.
///
/// `/web/dist/…` has the bundles of the client library and the widget. Under `/web/VERSION/…` browsers cache the bundles of a release without
/// asking again; other versions redirect to `/web/dist/…`, so that a page which names an older version keeps working.
///
/// A request's path is looked up in a table of the files that are in the program; nothing is read from a file system.
package enum WebPages {
    private static let prefix = "/web/"
    private static let bundles = "dist/"
    /// The pages' own addresses, and what they show.
    private static let pages: [(path: RoutePath, file: String, purpose: String)] = [
        ("/", "playground/index.html", "The playground: a web page that calls an assistant"),
        ("/sessions", "sessions/index.html", "A user's sessions: transcripts, recordings, settings and the account"),
        ("/calls", "calls/index.html", "A user's telephone: contacts, past calls, and calls with other users"),
        ("/dashboard", "dashboard/index.html", "The gateway live, for administrators"),
    ]

    /// Pages load resources from this gateway only, and neither inline scripts nor inline styles. They can open WebSockets to other hosts,
    /// and only this gateway's pages can embed them in a frame.
    private static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self' wss: ws:",
        "media-src 'self' blob:", "worker-src 'self'", "font-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'self'",
    ].joined(separator: "; ")

    /// - Parameters:
    ///   - files: with distinct paths.
    ///   - release: the version whose bundles never change, `1.2.3`; nil in a development build.
    package static func routes(_ files: [WebFile] = WebFile.all, release: String?) -> [Route] {
        let table = Dictionary(uniqueKeysWithValues: files.map { (prefix + $0.path, $0) })
        let fronts = pages.compactMap { page in
            table[prefix + page.file].map { file in
                Route(.get, page.path, page.purpose, access: .open, responses: [.content("text/html"), .notModified]) { request, _ in
                    response(to: request, with: file)
                }
            }
        }
        let types = Set(files.map { String($0.contentType.prefix { $0 != ";" }) }).sorted()
        // One route for each number of folders, because a parameter is one segment of a path.
        let depths = Set(files.map { $0.path.split(separator: "/").count - 1 }).sorted()
        let others = depths.map { depth in
            let folders = (0..<depth).map { ":folder\($0 + 1)/" }.joined()
            return Route(
                .get, RoutePath(stringLiteral: prefix + folders + ":file"), "A file of the gateway's web pages", access: .open,
                responses: types.map { .content($0) } + [.found, .notModified]
            ) { request, _ in
                if let file = table[request.path] { return response(to: request, with: file) }
                guard let (version, file) = versioned(request.path, in: table) else {
                    throw HTTPError(.notFound, "there is nothing at this path")
                }
                if version == release { return response(to: request, with: file, caching: "public, max-age=31536000, immutable") }
                return HTTPServerResponse(status: .found, fields: [.location: prefix + file.path, .cacheControl: "no-cache"])
            }
        }
        return fronts + others
    }

    /// The version and the bundle that a path like `/web/1.2.3/patchbay.js` names.
    private static func versioned(_ path: String, in table: [String: WebFile]) -> (version: String, bundle: WebFile)? {
        let parts = path.dropFirst(prefix.count).split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2, parts[0].wholeMatch(of: /[0-9]{1,5}(\.[0-9]{1,5}){2}/) != nil else { return nil }
        return table[prefix + bundles + parts[1]].map { (parts[0], $0) }
    }

    private static func response(
        to request: HTTPServerRequest, with file: WebFile, caching: String = "no-cache"
    ) -> HTTPServerResponse {
        var fields: HTTPFields = [
            .eTag: file.tag, .cacheControl: caching, .contentSecurityPolicy: contentSecurityPolicy, .referrerPolicy: "no-referrer",
            .crossOriginOpenerPolicy: "same-origin",
        ]
        guard !isKnown(file.tag, to: request) else {
            fields[.vary] = "Accept-Encoding"
            return HTTPServerResponse(status: .notModified, fields: fields)
        }
        fields[.contentType] = file.contentType
        return HTTPServerResponse(status: .ok, fields: fields, body: file.content)
    }

    /// By weak comparison (RFC 9110 section 13.1.2).
    private static func isKnown(_ tag: String, to request: HTTPServerRequest) -> Bool {
        HeaderList.items(of: request.headers[.ifNoneMatch] ?? "").contains { $0 == "*" || $0 == tag || $0 == tag.dropFirst(2) }
    }
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    fileprivate static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
}
