internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Store
internal import Wire

/// The query and response of a route that lists something page by page.
enum PageQuery {
    private static let limitByDefault = 50

    static let limit = RouteParameter.query(
        "limit", .integer(1...Int64(StoreLimits.linesPerPageMax)), "Maximum number; \(limitByDefault) by default")
    static let cursor = RouteParameter.query("cursor", .text(1...256), "Start of the page, from the Link header")

    /// The checked `limit`.
    static func limit(of request: HTTPServerRequest) -> Int { request.query("limit").flatMap { Int($0) } ?? limitByDefault }

    /// - Parameter page: reads the page at a cursor, which is nil for the first, and returns the cursor of the next, which is nil at the end.
    static func response<Cursor: PageCursor>(
        to request: HTTPServerRequest, _ page: (Cursor?, _ limit: Int) async throws -> (lines: [some Encodable], next: Cursor?)
    ) async throws -> HTTPServerResponse {
        let (lines, next) = try await page(try cursor(of: request), limit(of: request))
        return response(try .json(lines), next: next, request)
    }

    /// The same for values with a `JSONView`.
    static func views<Cursor: PageCursor>(
        to request: HTTPServerRequest, _ page: (Cursor?, _ limit: Int) async throws -> (lines: [some JSONWritable], next: Cursor?)
    ) async throws -> HTTPServerResponse {
        let (lines, next) = try await page(try cursor(of: request), limit(of: request))
        return response(.json(lines, capacity: 256 * (1 + lines.count)), next: next, request)
    }

    private static func response(_ page: HTTPServerResponse, next: (any PageCursor)?, _ request: HTTPServerRequest) -> HTTPServerResponse {
        var page = page
        link(response: &page, to: next.map { "cursor=\($0.text)" }, request)
        return page
    }

    static func cursor<Cursor: PageCursor>(of request: HTTPServerRequest) throws(StoreError) -> Cursor? {
        try request.query("cursor").map { text throws(StoreError) in try Cursor(text: text) }
    }

    /// Adds the Link header (RFC 8288) with the next page.
    ///
    /// - Parameter next: the query that selects it; nil at the end.
    static func link(response: inout HTTPServerResponse, to next: String?, _ request: HTTPServerRequest) {
        if let next { response.fields[.link] = "<\(request.path)?limit=\(limit(of: request))&\(next)>; rel=\"next\"" }
    }
}

/// The opaque place in a list where a page begins.
protocol PageCursor {
    var text: String { get }
    init(text: String) throws(StoreError)
}

extension NumberCursor: PageCursor {}
extension TimeCursor: PageCursor {}
