internal import HTTPTypes
internal import Wire

/// Parses a request's JSON body, checks it against its schema and decodes it.
enum RequestBody {
    /// Maximum nesting of objects and arrays.
    static let depthMax = 64

    static func read<Body: Decodable & Described>(_: Body.Type, from request: HTTPServerRequest) throws(HTTPError) -> Body {
        try checkType(of: request)
        do {
            let value = try JSONValue(parsing: request.body, depthMax: depthMax)
            if let fault = Body.schema.fault(in: value) { throw invalid(fault) }
            return try JSON.decode(Body.self, from: request.body, names: .snakeCase)
        } catch let error as HTTPError {
            throw error
        } catch DecodingError.dataCorrupted(let context) {
            throw invalid(Self.prefix(of: context.codingPath) + context.debugDescription)
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.keyNotFound(_, let context)
        {
            throw invalid(Self.prefix(of: context.codingPath) + context.debugDescription)
        } catch {
            throw invalid("it does not fit")
        }
    }

    /// A body without a Content-Type is assumed to be JSON (RFC 9110 section 8.3).
    private static func checkType(of request: HTTPServerRequest) throws(HTTPError) {
        guard let type = request.headers[.contentType] else { return }
        let essence = type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        guard essence == "application/json" else {
            throw HTTPError(.unsupportedMediaType, "unsupported_media_type", "send the body as application/json")
        }
    }

    private static func invalid(_ fault: String) -> HTTPError {
        HTTPError(.badRequest, "invalid_body", "the body is not the JSON object that this route takes: \(fault)")
    }

    private static func prefix(of path: [any CodingKey]) -> String {
        path.isEmpty ? "" : path.map(\.stringValue).joined(separator: ".") + ": "
    }
}
