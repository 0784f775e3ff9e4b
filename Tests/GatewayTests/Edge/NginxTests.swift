import Backend
import Foundation
import Gateway
import Glibc
import Sockets
import Testing
import Wire

/// A gateway behind nginx, which runs the configuration of `docs/PROXIES.md`.
@Suite(
    .onOwnThread, .serialized, .timeLimit(.minutes(1)),
    .enabled(if: Nginx.executable != nil, "nginx is not installed; scripts/setup installs it"))
struct NginxTests {
    private let log = RecordedLog()
    private let gateway: TestGateway
    private let nginx: Nginx

    init() throws {
        gateway = try TestGateway(operatorLog: log.operatorLog()) {
            $0.edge.plain = EdgeSettings.Place(host: "127.0.0.1", port: 0)
            // The clients of these tests have other loopback addresses.
            $0.edge.proxies = ProxyTrust(networks: try! [IPNetwork("127.0.0.1")])
        }
        nginx = try Nginx(before: gateway.gateway.plainPort ?? 0)
    }

    private func join(_ identity: String, through port: Int, from source: String = Loopback.fresh()) throws -> Caller {
        let ask = HTTPAsk.upgrade(token: TestToken.joining("r", as: identity))
        return try Caller(on: RawWebSocket(on: .secure(port: port, from: source), asking: ask), goingOnAfter: 0)
    }

    @Test func audioPassesBothWays() throws {
        let ann = try join("ann", through: nginx.port)
        let bob = try join("bob", through: gateway.port)
        let (fromAnn, fromBob) = (try ann.publish(), try bob.publish())
        for number in 0..<50 {
            try ann.say(TestFrame.bytes(fromAnn.alias, number))
            try bob.say(TestFrame.bytes(fromBob.alias, number))
            #expect(try bob.frame() == TestFrame.bytes(fromAnn.alias, number))
            #expect(try ann.frame() == TestFrame.bytes(fromBob.alias, number))
        }
        try ann.socket.send(text: #"{"type":"leave","data":{}}"#)
        #expect(try ann.closeCode() == 1000, "the close code arrives through the proxy")
    }

    @Test func limitsAndLogSeeTheClient() throws {
        let (guesser, other) = (Loopback.fresh(), Loopback.fresh())
        func guess(from source: String) throws -> Int? {
            var ask = HTTPAsk.upgrade(token: "a.b.c")
            // nginx appends the real address to what a client invents.
            ask.fields.append(("X-Forwarded-For", "203.0.113.\(Int.random(in: 0...255))"))
            return try ask.answer(port: nginx.port, from: source)?.status
        }
        for _ in 0..<20 { #expect(try guess(from: guesser) == 401) }
        #expect(try guess(from: guesser) == 429)
        #expect(try guess(from: other) == 401)
        #expect(Set(log.lines("refused").compactMap { $0["address"] }) == [guesser, other])
        let ann = try join("ann", through: nginx.port, from: guesser)
        withExtendedLifetime(ann) {}
    }

    @Test func httpRequestsPassOnOneConnection() throws {
        let socket = try RawSocket.secure(port: nginx.port)
        var inbox: [UInt8] = []
        for (path, status) in [("/healthz", 200), ("/v1/rooms", 401), ("/metrics", 200), ("/nowhere", 404)] {
            try socket.write(HTTPAsk(path: path).bytes)
            #expect(try HTTPAnswer.read(from: socket, inbox: &inbox)?.status == status, "\(path)")
        }
    }
}

/// nginx in front of a gateway's plain port; stops with its last reference.
final class Nginx {
    /// A free port when the test began.
    let port: Int
    private let process = Process()
    private let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-nginx-\(UUID().uuidString)")

    static let executable = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].first(
        where: FileManager.default.isExecutableFile)

    /// - Throws: if nginx does not listen in time, or the document has no configuration for it.
    init(before plainPort: Int) throws {
        port = try Self.freePort()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "nginx.conf").path
        try configuration(plainPort: plainPort, port: port, otherPort: Self.freePort()).write(
            toFile: path, atomically: true, encoding: .utf8)
        process.executableURL = URL(filePath: Self.executable ?? "")
        process.arguments = ["-c", path, "-p", folder.path, "-e", folder.path + "/error.log"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        do {
            try Patience.until("nginx listens") { (try? RawSocket(port: port)) != nil }
        } catch {
            let complaint = (try? String(contentsOfFile: folder.path + "/error.log", encoding: .utf8)) ?? ""
            throw DidNotHappen(what: "nginx listens: \(complaint)")
        }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The document's configuration with other ports and the tests' certificate, within what Debian's main configuration has around it.
    private func configuration(plainPort: Int, port: Int, otherPort: Int) throws -> String {
        let document = try String(contentsOfFile: Repository.path("docs/PROXIES.md"), encoding: .utf8)
        guard let match = document.firstMatch(of: /```nginx\n((?s).*?)```/) else { throw DidNotHappen(what: "a configuration of nginx") }
        let files = Certificate.usual.files
        var snippet = String(match.output.1)
        for (documented, here) in [
            ("127.0.0.1:7890", "127.0.0.1:\(plainPort)"), ("listen 443 ", "listen 127.0.0.1:\(port) "),
            ("listen [::]:443 ", "listen 127.0.0.1:\(otherPort) "), ("/etc/nginx/voice.example.org.pem", files.certificatePath),
            ("/etc/nginx/voice.example.org.key", files.privateKeyPath),
        ] {
            guard snippet.contains(documented) else { throw DidNotHappen(what: "\(documented) in the document") }
            snippet = snippet.replacing(documented, with: here)
        }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder.path)/\($0);" }
        return """
            daemon off;
            master_process off;
            pid \(folder.path)/nginx.pid;
            events { worker_connections 256; }
            http {
            access_log off;
            \(temporary.joined(separator: "\n"))
            \(snippet)
            }
            """
    }

    private static func freePort() throws -> Int {
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        defer { listener.close() }
        return listener.port
    }
}
