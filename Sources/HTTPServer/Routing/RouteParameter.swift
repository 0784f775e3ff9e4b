internal import HTTPTypes

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
                throw HTTPError(.notFound, "not_found", "there is nothing at this path")
            }
        case .query:
            guard let text = request.query(name) else {
                if isRequired { throw HTTPError(.badRequest, "invalid_query", "\(name) is missing from the query") }
                return
            }
            if let fault = schema.fault(inText: text) { throw HTTPError(.badRequest, "invalid_query", "\(name) of the query \(fault)") }
        }
    }
}

extension [RouteParameter] {
    func check(_ request: HTTPServerRequest) throws(HTTPError) {
        for parameter in self { try parameter.check(request) }
    }
}
