package import HTTPTypes
package import Sockets
package import Wire

extension HTTPServerResponse {
    /// A JSON response with names in snake case.
    package static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> HTTPServerResponse {
        HTTPServerResponse(status: status, fields: [.contentType: "application/json"], body: try JSON.encode(value, names: .snakeCase))
    }

    /// - Parameter capacity: expected size in bytes.
    package static func json(_ value: some JSONWritable, status: HTTPResponse.Status = .ok, capacity: Int = 256) -> HTTPServerResponse {
        HTTPServerResponse(status: status, fields: [.contentType: "application/json"], body: JSON.text(value, capacity: capacity))
    }

    package static let noContent = HTTPServerResponse(status: .noContent)

    /// In bytes. Smaller bodies fit into one packet and are not compressed.
    private static let compressedBytesMin = 1_024

    /// Compresses the body and adds the common fields.
    mutating func finish(for request: HTTPServerRequest, _ origins: AllowedOrigins) {
        compress(for: request)
        addCommonFields(for: request, origins)
    }

    /// Adds the fields of every response: request ID, CORS, and (unless the handler set its own caching) no storing, no sniffing, HSTS.
    package mutating func addCommonFields(for request: HTTPServerRequest, _ origins: AllowedOrigins) {
        fields[.requestID] = request.requestID
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        fields[.xContentTypeOptions] = "nosniff"
        fields[.strictTransportSecurity] = "max-age=31536000"
        origins.mark(&self, for: request)
    }

    private mutating func compress(for request: HTTPServerRequest) {
        guard body.count >= Self.compressedBytesMin, fields[.contentEncoding] == nil, isText else { return }
        addVary("Accept-Encoding")
        guard Self.acceptsGzip(request.headers[.acceptEncoding]), let compressed = Gzip.compressed(body) else { return }
        body = compressed
        fields[.contentEncoding] = "gzip"
    }

    private var isText: Bool {
        let type = fields[.contentType] ?? ""
        return type.hasPrefix("text/") || type.hasPrefix("application/json")
    }

    mutating func addVary(_ name: String) {
        fields[.vary] = fields[.vary].map { $0 + ", " + name } ?? name
    }

    /// RFC 9110 section 12.5.3. A weight of 0 means "not acceptable".
    private static func acceptsGzip(_ field: String?) -> Bool {
        let items = (field ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.split(separator: ";") }
        func weight(_ coding: String) -> Double? {
            guard let item = items.first(where: { $0.first.map { $0 == coding } ?? false }) else { return nil }
            return item.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        }
        return (weight("gzip") ?? weight("*") ?? 0) > 0
    }
}

/// The origins whose web pages may connect with WebSockets (RFC 6455 section 10.2) and call the API from a browser (CORS, Fetch standard).
/// None by default.
package struct AllowedOrigins: Sendable {
    private let origins: Set<String>
    /// WebSockets, and the routes that a page needs to open one (`pathsForConnecting`); every route for pages of this machine.
    private let admitsAny: Bool
    /// Pages that the gateway serves itself may open WebSockets.
    private let admitsOwnPages: Bool

    private static let pathsForConnecting: Set<String> = ["/v1/rtc/validate"]

    /// - Parameters:
    ///   - origins: for example `https://app.example`, or `*` for all.
    ///   - admitsAny: for development: web pages of all origins may connect with WebSockets, and those of loopback origins, such as a
    ///     bundler's server, may call the API.
    ///   - admitsOwnPages: pages of the origin under which a request reaches the gateway may connect with WebSockets.
    package init(_ origins: [String], admitsAny: Bool = false, admitsOwnPages: Bool = false) {
        self.origins = Set(origins)
        self.admitsAny = admitsAny
        self.admitsOwnPages = admitsOwnPages
    }

    /// Whether a WebSocket may be opened. Browsers always state the page's origin; other clients need not, and could state any.
    ///
    /// - Parameter host: the request's Host header.
    package func admits(_ origin: String?, to host: @autoclosure () -> String?) -> Bool {
        guard let origin, !admitsAny else { return true }
        return isListed(origin) || admitsOwnPages && host().map { origin == "https://" + $0 } ?? false
    }

    private func isListed(_ origin: String) -> Bool { origins.contains(origin) || origins.contains("*") }

    /// Whether a page of this machine asks: an origin such as `http://localhost:5173`.
    private static func isLoopback(_ origin: String) -> Bool {
        origin.wholeMatch(of: /https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?/) != nil
    }

    /// Adds the CORS fields for a request's origin.
    func mark(_ response: inout HTTPServerResponse, for request: HTTPServerRequest) {
        guard admitsAny || !origins.isEmpty else { return }
        response.addVary("Origin")
        guard let origin = request.headers[.origin] else { return }
        let isOpen = admitsAny && (Self.pathsForConnecting.contains(request.path) || Self.isLoopback(origin))
        guard isOpen || isListed(origin) else { return }
        response.fields[.accessControlAllowOrigin] = origin
        if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            response.fields[.accessControlAllowMethods] = response.fields[.allow]
            response.fields[.accessControlAllowHeaders] = "Authorization, Content-Type, Idempotency-Key, X-Request-ID, traceparent"
            // In seconds; Chromium's maximum.
            response.fields[.accessControlMaxAge] = "7200"
        } else {
            response.fields[.accessControlExposeHeaders] = "Link, Retry-After, X-Patchbay-Error, X-Request-ID"
        }
    }
}
