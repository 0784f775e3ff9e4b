internal import HTTPTypes
internal import Sockets

/// The origins whose web pages may call the API from a browser (CORS, Fetch standard). None by default.
package struct AllowedOrigins: Sendable {
    private let origins: Set<String>

    /// - Parameter origins: for example `https://app.example`, or `*` for all.
    package init(_ origins: [String]) {
        self.origins = Set(origins)
    }

    /// Adds the CORS fields for a request's origin.
    func mark(_ response: inout HTTPServerResponse, for request: HTTPServerRequest) {
        guard !origins.isEmpty else { return }
        response.addVary("Origin")
        guard let origin = request.headers[.origin], origins.contains(origin) || origins.contains("*") else { return }
        response.fields[.accessControlAllowOrigin] = origin
        if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            response.fields[.accessControlAllowMethods] = response.fields[.allow]
            response.fields[.accessControlAllowHeaders] = "Authorization, Content-Type, Idempotency-Key, X-Request-ID"
            // In seconds; Chromium's maximum.
            response.fields[.accessControlMaxAge] = "7200"
        } else {
            response.fields[.accessControlExposeHeaders] = "Link, Retry-After, X-Patchbay-Error, X-Request-ID"
        }
    }
}
