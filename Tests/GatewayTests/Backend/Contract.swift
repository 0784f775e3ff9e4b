import Gateway
import HTTPServer
import HTTPTypes
import Testing
import Wire

/// Checks responses against the routes' declarations.
enum Contract {
    /// Checks a response's status, type and body against its route's declaration.
    static func hold(_ answer: HTTPAnswer, to ask: HTTPAsk, _ routes: [Route]) throws {
        let path = ask.path.prefix { $0 != "?" }
        let candidates = routes.filter { $0.method.rawValue == ask.method && matches($0.path.inOpenAPI, path) }
        // Literal segments take precedence over parameters.
        guard let route = candidates.max(by: { $0.path.inOpenAPI.count { $0 == "{" } > $1.path.inOpenAPI.count { $0 == "{" } }) else {
            // Some paths are refused before routing.
            let isNoPath = answer.status == 400 && answer.text.contains("invalid_path")
            #expect([404, 405].contains(answer.status) || isNoPath, "\(ask.method) \(path): \(answer.text)")
            return
        }
        let outcomes = route.outcomes.filter { $0.status.code == answer.status }
        #expect(!outcomes.isEmpty, "\(route.name) never says \(answer.status): \(answer.text)")
        guard let schema = outcomes.first?.schema else { return }
        #expect(answer.fields["content-type"] == "application/json")
        #expect(schema.fault(in: try JSONValue(parsing: answer.body)) == nil, "\(route.name): \(answer.text)")
    }

    private static func matches(_ pattern: String, _ path: Substring) -> Bool {
        let (pattern, path) = (pattern.split(separator: "/"), path.split(separator: "/"))
        return pattern.count == path.count && zip(pattern, path).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
}
