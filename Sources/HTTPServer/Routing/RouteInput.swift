internal import HTTPTypes
internal import Wire

/// A query or path parameter of a route, with its schema.
package struct RouteParameter: Sendable {
    enum Location: String, Sendable {
        case query, path
    }

    let location: Location
    let name: String
    let schema: Schema
    let isRequired: Bool
    let summary: String

    /// An optional `?name=…`.
    package static func query(_ name: String, _ schema: Schema, _ summary: String) -> RouteParameter {
        RouteParameter(location: .query, name: name, schema: schema, isRequired: false, summary: summary)
    }

    /// A required `?name=…`.
    package static func requiredQuery(_ name: String, _ schema: Schema, _ summary: String) -> RouteParameter {
        RouteParameter(location: .query, name: name, schema: schema, isRequired: true, summary: summary)
    }

    /// `:name` of the path. A value that violates the schema is answered with 404.
    package static func path(_ name: String, _ schema: Schema, _ summary: String) -> RouteParameter {
        RouteParameter(location: .path, name: name, schema: schema, isRequired: true, summary: summary)
    }

    fileprivate func check(_ request: HTTPServerRequest) throws(HTTPError) {
        switch location {
        case .path:
            guard schema.fault(inText: request.parameter(name)) == nil else {
                throw HTTPError(.notFound, "there is nothing at this path")
            }
        case .query:
            guard let text = request.query(name) else {
                if isRequired { throw HTTPError(.invalidQuery, "\(name) is missing from the query") }
                return
            }
            if let fault = schema.fault(inText: text) { throw HTTPError(.invalidQuery, "\(name) of the query \(fault)") }
        }
    }
}

extension [RouteParameter] {
    func check(_ request: HTTPServerRequest) throws(HTTPError) {
        for parameter in self { try parameter.check(request) }
    }
}

/// Parses a request's JSON body, checks it against its schema and decodes it.
enum RequestBody {
    /// Maximum nesting of objects and arrays.
    static let depthMax = 64

    static func read<Body: Decodable & Described>(_: Body.Type, from request: HTTPServerRequest) throws(HTTPError) -> Body {
        try checkType(of: request)
        do {
            let value = try JSONValue(parsing: request.body, depthMax: depthMax, plainIntegers: true)
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
            throw HTTPError(.unsupportedMediaType, "send the body as application/json")
        }
    }

    private static func invalid(_ fault: String) -> HTTPError {
        HTTPError(.invalidBody, "the body is not the JSON object that this route takes: \(fault)")
    }

    private static func prefix(of path: [any CodingKey]) -> String {
        path.isEmpty ? "" : path.map(\.stringValue).joined(separator: ".") + ": "
    }
}
