import Foundation
import Gateway
import HTTPServer
import HTTPTypes
import Sockets
import Synchronization
import Testing

/// Requests of an attacker and of another client through a proxy that sends both on the same connections to the gateway.
@Suite(
    .onOwnThread, .serialized, .timeLimit(.minutes(5)),
    .enabled(if: !ReverseProxy.Kind.installed.isEmpty, "no proxy is installed; scripts/setup installs them"))
struct ProxySmugglingTests {
    private let witness = Witness()
    private let gateway: TestGateway

    init() throws {
        gateway = try TestGateway(routes: witness.routes) {
            $0.edge.plain = EdgeSettings.Place(host: "127.0.0.1", port: 0)
            $0.edge.proxies = ProxyTrust(networks: try! [IPNetwork("127.0.0.1")])
        }
    }

    /// Each request that reaches the gateway is answered to the client that sent it, whatever an attacker sends before.
    @Test(arguments: ReverseProxy.Kind.installed)
    func whatAnAttackerSendsReachesNoOtherClient(kind: ReverseProxy.Kind) throws {
        let proxy = try ReverseProxy(kind, before: gateway.gateway.plainPort ?? 0)
        var victim = try Client(of: proxy)
        for (number, attack) in Attack.all.enumerated() {
            witness.forget()
            let attacker = try Client(of: proxy)
            try attacker.send(attack.text(number) + Attack.request("GET /v1/next HTTP/1.1", ["Connection: close"], "next-\(number)"))
            let answered = try attacker.answers().compactMap(\.witnessed)
            #expect(answered == witness.seen, "\(kind), \(attack)")
            // A proxy may end a client's connection between two requests.
            let ask = Attack.request("GET /v1/victim HTTP/1.1", [], "victim-\(number)")
            var answer = try victim.answer(to: ask)
            if answer == nil {
                victim = try Client(of: proxy)
                answer = try victim.answer(to: ask)
            }
            #expect(answer?.witnessed == "victim-\(number)", "\(kind), \(attack)")
            #expect(witness.seen == answered + ["victim-\(number)"], "\(kind), \(attack)")
        }
    }

    /// The requests that reached the gateway.
    private final class Witness: Sendable {
        private let ids = Mutex<[String]>([])

        var seen: [String] { ids.withLock { $0 } }
        func forget() { ids.withLock { $0 = [] } }

        var routes: [Route] {
            let methods: [(HTTPRequest.Method, RoutePath)] = [
                (.get, "/v1/attack"), (.post, "/v1/attack"), (.get, "/v1/hidden"), (.get, "/v1/next"), (.get, "/v1/victim"),
            ]
            return methods.map { method, path in
                Route(method, path, "Answers with the request's identifier", access: .open, responses: [.content("text/plain")]) {
                    [self] request, _ in
                    ids.withLock { $0.append(request.requestID) }
                    return HTTPServerResponse(status: .ok, fields: [.contentType: "text/plain"], body: Array(request.requestID.utf8))
                }
            }
        }
    }

    private final class Client {
        private let socket: RawSocket
        private var inbox: [UInt8] = []

        init(of proxy: ReverseProxy) throws { socket = try .secure(port: proxy.port) }

        func send(_ text: String) throws { try socket.write(Array(text.utf8)) }

        /// Nil if the connection has ended.
        func answer(to text: String) throws -> HTTPAnswer? {
            guard (try? send(text)) != nil else { return nil }
            return try HTTPAnswer.read(from: socket, inbox: &inbox)
        }

        /// The answers until the connection ends.
        func answers() throws -> [HTTPAnswer] {
            var answers: [HTTPAnswer] = []
            while let answer = try HTTPAnswer.read(from: socket, inbox: &inbox) { answers.append(answer) }
            return answers
        }
    }
}

extension HTTPAnswer {
    /// The identifier of the request that a route answered; nil for refusals.
    fileprivate var witnessed: String? { status == 200 ? text : nil }
}

/// What an attacker sends: one request, with another one as its body or behind what may be its end.
private struct Attack: CustomStringConvertible {
    var line = "POST /v1/attack HTTP/1.1"
    var fields: [String]
    var body = ""

    private static let hidden = "GET /v1/hidden HTTP/1.1\r\nHost: h\r\nX-Request-ID: hidden\r\n\r\n"

    var description: String { (line + "\n" + fields.joined(separator: "\n")).debugDescription }

    func text(_ number: Int) -> String { Self.request(line, fields, "attack-\(number)") + body }

    static func request(_ line: String, _ fields: [String], _ id: String) -> String {
        ([line, "Host: h", "X-Request-ID: \(id)"] + fields + ["", ""]).joined(separator: "\r\n")
    }

    static let all: [Attack] = {
        let (length, end) = ("Content-Length: \(hidden.utf8.count)", "0\r\n\r\n")
        var attacks = ["X", "A", "If", "Te", "Content", "X-Auth", "X-Forwarded", "Content-Lengt", "Transfer-Encodin", "Sec-WebSocket"]
            .flatMap {
                name in
                [
                    Attack(fields: ["\(name): a", length], body: hidden),
                    Attack(fields: ["\(name):a", "\(name): b", length], body: hidden),
                    Attack(fields: [length, "\(name): a"], body: hidden), Attack(line: "GET /v1/attack HTTP/1.1", fields: ["\(name): a"]),
                    Attack(line: "GET /v1/attack HTTP/1.1", fields: ["\(name): a", length], body: hidden),
                    Attack(fields: ["\(name): a", "Transfer-Encoding: chunked"], body: SmuggledRequests.chunked(hidden)),
                ]
            }
        for coding in SmuggledRequests.codings {
            let chunked = SmuggledRequests.chunked(hidden)
            attacks += [
                Attack(fields: [coding], body: chunked),
                Attack(fields: ["Content-Length: \((end + hidden).utf8.count)", coding], body: end + hidden),
                Attack(fields: [coding, "Content-Length: \((end + hidden).utf8.count)"], body: end + hidden),
                Attack(fields: [coding, "Content-Length: \(chunked.prefix { $0 != "\r\n" }.utf8.count + 2)"], body: chunked),
                Attack(line: "POST /v1/attack HTTP/1.0", fields: [coding], body: chunked),
            ]
        }
        attacks += SmuggledRequests.lengths(of: hidden).map { Attack(fields: [$0], body: hidden) }
        attacks += ["X: a\r\n Content-Length: 0", "X: a\nContent-Length: 0", "X : a", "X: a\0", "Host: h", "X: a\r\n\n", "\r\n"].map {
            Attack(fields: [length, $0], body: hidden)
        }
        return attacks
    }()
}
