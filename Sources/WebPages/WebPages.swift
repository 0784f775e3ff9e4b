package import HTTPServer
internal import HTTPTypes
internal import Sockets

/// The routes of the gateway's own web pages: the pages' addresses, and `/web/…`, all files of the folder `Web`.
///
/// A request's path is looked up in a table of the files that are in the program; nothing is read from a file system.
package enum WebPages {
    private static let prefix = "/web/"
    /// The pages' own addresses, and what they show.
    private static let pages: [(path: RoutePath, file: String, purpose: String)] = [
        ("/", "playground/index.html", "The playground: a web page that calls an assistant"),
        ("/sessions", "sessions/index.html", "A user's sessions: transcripts, recordings, settings and the account"),
        ("/dashboard", "dashboard/index.html", "The gateway live, for administrators"),
    ]

    /// Pages load resources from this gateway only, and neither inline scripts nor inline styles. They can open WebSockets to other hosts,
    /// and only this gateway's pages can embed them in a frame.
    private static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self' wss: ws:",
        "media-src 'self' blob:", "worker-src 'self'", "font-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'self'",
    ].joined(separator: "; ")

    /// - Parameter files: with distinct paths.
    package static func routes(_ files: [WebFile] = WebFile.all) -> [Route] {
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
                responses: types.map { .content($0) } + [.notModified]
            ) { request, _ in
                guard let file = table[request.path] else { throw HTTPError(.notFound, "not_found", "there is nothing at this path") }
                return response(to: request, with: file)
            }
        }
        return fronts + others
    }

    private static func response(to request: HTTPServerRequest, with file: WebFile) -> HTTPServerResponse {
        var fields: HTTPFields = [
            .eTag: file.tag, .cacheControl: "no-cache", .contentSecurityPolicy: contentSecurityPolicy, .referrerPolicy: "no-referrer",
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
