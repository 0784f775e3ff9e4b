internal import HTTPTypes

/// A value that a route takes from its query or its path, and what it has to be.
package struct RouteParameter: Sendable {
    enum Place: String, Sendable {
        case query, path
    }

    let place: Place
    let name: String
    let schema: Schema
    let isRequired: Bool
    let summary: String

    /// `?name=…`, which may be left out.
    package static func query(_ name: String, _ schema: Schema, _ summary: String) -> RouteParameter {
        RouteParameter(place: .query, name: name, schema: schema, isRequired: false, summary: summary)
    }

    /// `?name=…`, which has to be there.
    package static func requiredQuery(_ name: String, _ schema: Schema, _ summary: String) -> RouteParameter {
        RouteParameter(place: .query, name: name, schema: schema, isRequired: true, summary: summary)
    }

    /// `:name` of the path. What is something else is not found.
    package static func path(_ name: String, _ schema: Schema, _ summary: String) -> RouteParameter {
        RouteParameter(place: .path, name: name, schema: schema, isRequired: true, summary: summary)
    }

    fileprivate func check(_ request: HTTPServerRequest) throws(HTTPError) {
        switch place {
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
