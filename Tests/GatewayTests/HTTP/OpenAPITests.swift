import Backend
import Foundation
import Gateway
import HTTPServer
import HTTPTypes
import Identity
import Testing
import Wire

@Suite("The OpenAPI document", .onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct OpenAPITests {
    private let gateway: TestGateway
    private let document: JSONValue

    init() throws {
        gateway = try TestGateway(routes: WishList.routes())
        let answer = try #require(try gateway.get("/openapi.json"))
        document = try JSONValue(parsing: answer.body)
    }

    private var operations: [(path: String, method: String, operation: JSONValue)] {
        members(document["paths"]).flatMap { path in members(path.value).map { (path.name, $0.name, $0.value) } }
    }

    private func members(_ value: JSONValue?) -> [JSONValue.Member] {
        if case .object(let members) = value { members } else { [] }
    }

    private func elements(_ value: JSONValue?) -> [JSONValue] {
        if case .array(let elements) = value { elements } else { [] }
    }

    @Test("lists every route, including its own")
    func everyRoute() {
        #expect(document["openapi"] == "3.1.0")
        let found = Set(operations.map { "\($0.method) \($0.path)" })
        let own = [
            "get /healthz", "get /readyz", "get /metrics", "get /openapi.json", "get /v1/rooms", "patch /v1/rooms/{room}/tracks/{track}",
        ]
        #expect(found.isSuperset(of: own))
        #expect(found.isSuperset(of: WishList.routes().map { "\($0.method.rawValue.lowercased()) \($0.path.inOpenAPI)" }))
        #expect(operations.count == found.count)
    }

    @Test("describes each path parameter, with unique operation IDs")
    func parametersAndNames() {
        for (path, method, operation) in operations {
            let parameters = elements(operation["parameters"]).filter { $0["in"] == "path" }.map { $0["name"] }
            let inPath = path.matches(of: /\{([^}]*)\}/).map { JSONValue.string(String($0.1)) }
            #expect(Set(parameters) == Set(inPath), "\(method) \(path)")
            #expect(operation["responses"] != nil)
        }
        #expect(Set(operations.map { $0.operation["operationId"] }).count == operations.count)
    }

    @Test("has no dangling references")
    func references() throws {
        let answer = try #require(try gateway.get("/openapi.json"))
        let references = Set(answer.text.matches(of: /"\$ref":"#\/components\/schemas\/([^"]*)"/).map { String($0.1) })
        #expect(references.contains("Wish") && references.contains("Error"))
        let schemas = Set(members(document["components"]?["schemas"]).map(\.name))
        #expect(references.isSubset(of: schemas))
    }

    @Test("states where a token is required, and the error statuses")
    func security() throws {
        let wish = try #require(document["paths"]?["/v1/lists/{list}/wishes"]?["post"])
        #expect(wish["security"] == nil)
        #expect(members(wish["responses"]).map(\.name) == ["201", "400", "404", "405", "408", "411", "413", "415", "500", "503"])
        #expect(wish["requestBody"]?["content"]?["application/json"]?["schema"] == ["$ref": "#/components/schemas/Wish"])
        let list = try #require(document["paths"]?["/v1/lists/{list}"]?["get"])
        #expect(list["security"] == [["token": []]])
        #expect(
            members(list["responses"]).map(\.name) == ["200", "400", "401", "403", "404", "405", "408", "411", "413", "429", "500", "503"])
    }

    @Test("matches the gateway's own routes")
    func ownRoutes() throws {
        let caller = try Caller(gateway, room: "r", identity: "ann")
        let track = try caller.publish()
        let admin = TestToken.administering {
            $0.room = "r"
            $0.roomAdmin = true
            $0.roomList = true
            $0.roomCreate = true
        }
        let token = [("Authorization", "Bearer " + admin)]
        let asks: [(HTTPAsk, String, Int)] = [
            (HTTPAsk(path: "/v1/rooms", fields: [(name: "Authorization", value: "Bearer " + admin)]), "/v1/rooms", 200),
            (HTTPAsk(path: "/v1/rooms"), "/v1/rooms", 401),
            (HTTPAsk(path: "/v1/operations", fields: [(name: "Authorization", value: "Bearer " + admin)]), "/v1/operations", 200),
            (
                HTTPAsk(path: "/v1/operations/history", fields: [(name: "Authorization", value: "Bearer " + admin)]),
                "/v1/operations/history", 200
            ),
            (HTTPAsk(path: "/v1/operations"), "/v1/operations", 401),
            (HTTPAsk(path: "/v1/rooms/r", fields: [(name: "Authorization", value: "Bearer " + admin)]), "/v1/rooms/{room}", 200),
            (.json("PATCH", "/v1/rooms/r", #"{"metadata":"m"}"#, with: token), "/v1/rooms/{room}", 200),
            (.json("PATCH", "/v1/rooms/r", #"{"meta":"m"}"#, with: token), "/v1/rooms/{room}", 400),
            (.json("PATCH", "/v1/rooms/r/tracks/\(track.sid)", #"{"muted":true}"#, with: token), "/v1/rooms/{room}/tracks/{track}", 200),
            (.json("PATCH", "/v1/rooms/r/tracks/TR_no", #"{"muted":true}"#, with: token), "/v1/rooms/{room}/tracks/{track}", 404),
            (HTTPAsk(path: "/v1/rtc"), "/v1/rtc", 426),
            (
                HTTPAsk(method: "DELETE", path: "/v1/rooms/r", fields: [(name: "Authorization", value: "Bearer " + admin)]),
                "/v1/rooms/{room}", 200
            ),
        ]
        let connection = try HTTPConnection(gateway)
        for (ask, path, status) in asks {
            let answer = try #require(try connection.answer(to: ask))
            #expect(answer.status == status, "\(ask.method) \(ask.path): \(answer.text)")
            try hold(answer, to: ask.method, path)
        }
        withExtendedLifetime(caller) {}
    }

    @Test("matches additional routes")
    func addedRoutes() throws {
        let connection = try HTTPConnection(gateway)
        for (ask, path) in [
            (HTTPAsk.json("POST", "/v1/lists/a/wishes", #"{"title":"ball","extra":{"is_urgent":true}}"#), "/v1/lists/{list}/wishes"),
            (HTTPAsk.json("POST", "/v1/lists/a/wishes", "{}"), "/v1/lists/{list}/wishes"),
            (HTTPAsk(path: "/v1/lists/a/wishes?limit=3"), "/v1/lists/{list}/wishes"),
            (HTTPAsk(path: "/v1/lists/a"), "/v1/lists/{list}"),
        ] {
            try hold(try #require(try connection.answer(to: ask)), to: ask.method, path)
        }
    }

    /// Checks a response's status, body and type against the route's declaration and the document.
    private func hold(_ answer: HTTPAnswer, to method: String, _ path: String) throws {
        let route = try #require(gateway.gateway.routes.first { $0.method.rawValue == method && $0.path.inOpenAPI == path })
        let outcome = try #require(
            route.outcomes.first { $0.status.code == answer.status }, "\(method) \(path) never says \(answer.status)")
        #expect(answer.fields["content-type"]?.hasPrefix(outcome.contentType ?? "?") == true)
        if let schema = outcome.schema { #expect(schema.fault(in: try JSONValue(parsing: answer.body)) == nil, "\(answer.text)") }
    }
}
