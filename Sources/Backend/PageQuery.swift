internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Store

/// The query and response of a route that lists something page by page.
enum PageQuery {
    private static let limitByDefault = 50

    static let limit = RouteParameter.query(
        "limit", .integer(1...Int64(StoreLimits.linesPerPageMax)), "Maximum number; \(limitByDefault) by default")
    static let cursor = RouteParameter.query("cursor", .text(1...256), "Start of the page, from the Link header")

    /// The checked `limit`.
    static func limit(of request: HTTPServerRequest) -> Int { request.query("limit").flatMap { Int($0) } ?? limitByDefault }

    /// - Parameter next: the cursor of the next page; nil at the end.
    static func response(
        _ lines: [some Encodable], _ path: String, limit: Int, next: String?
    ) throws -> HTTPServerResponse {
        var response = try HTTPServerResponse.json(lines)
        link(response: &response, to: next.map { "cursor=\($0)" }, path, limit: limit)
        return response
    }

    /// Adds the Link header (RFC 8288) with the next page.
    ///
    /// - Parameter next: the query that selects it; nil at the end.
    static func link(response: inout HTTPServerResponse, to next: String?, _ path: String, limit: Int) {
        if let next { response.fields[.link] = "<\(path)?limit=\(limit)&\(next)>; rel=\"next\"" }
    }
}
