internal import HTTPTypes
internal import Sockets

/// Which web pages of other origins may call the API from a browser (the Fetch standard's CORS). None, unless configured.
package struct AllowedOrigins: Sendable {
    private let origins: Set<String>

    /// - Parameter origins: such as `https://app.example`; `*` is all of them.
    package init(_ origins: [String]) {
        self.origins = Set(origins)
    }

    /// What the answer to a request says of its origin.
    func mark(_ response: inout HTTPServerResponse, for request: HTTPServerRequest) {
        guard !origins.isEmpty else { return }
        response.addVary("Origin")
        guard let origin = request.headers[.origin], origins.contains(origin) || origins.contains("*") else { return }
        response.fields[.accessControlAllowOrigin] = origin
        if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            response.fields[.accessControlAllowMethods] = response.fields[.allow]
            response.fields[.accessControlAllowHeaders] = "Authorization, Content-Type, Idempotency-Key, X-Request-ID"
            // As long as Chromium keeps it at most, in seconds.
            response.fields[.accessControlMaxAge] = "7200"
        } else {
            response.fields[.accessControlExposeHeaders] = "Link, Retry-After, X-Patchbay-Error, X-Request-ID"
        }
    }
}
