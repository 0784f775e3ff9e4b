import Foundation
import Glibc
import HTTPServer
import HTTPTypes
import Sockets

/// A reverse proxy in front of a gateway's plain port, with its configuration from `docs/PROXIES.md`; stops with its last reference.
final class ReverseProxy {
    enum Kind: String, CaseIterable, Sendable {
        case nginx, haproxy, caddy

        /// Those on this machine; scripts/setup installs all.
        static let installed = allCases.filter { $0.executable != nil }

        fileprivate var executable: String? {
            ["/usr/sbin/", "/usr/local/sbin/", "/usr/bin/", "/usr/local/bin/"].map { $0 + rawValue }.first(
                where: FileManager.default.isExecutableFile)
        }
    }

    let kind: Kind
    /// With TLS; a free port when the test began.
    let port: Int
    private let process = Process()
    private let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-proxy-\(UUID().uuidString)")

    /// - Throws: if the proxy does not listen in time, or the document has no configuration for it.
    init(_ kind: Kind, before plainPort: Int) throws {
        self.kind = kind
        port = try Self.freePort()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = file("configuration")
        try configuration(plainPort: plainPort).write(toFile: path, atomically: true, encoding: .utf8)
        let output = file("output")
        try Data().write(to: URL(filePath: output))
        process.executableURL = URL(filePath: kind.executable ?? "")
        process.arguments =
            switch kind {
            case .nginx: ["-c", path, "-p", folder.path, "-e", output]
            case .haproxy: ["-db", "-f", path]
            case .caddy: ["run", "--config", path, "--adapter", "caddyfile"]
            }
        // Caddy's folders.
        process.environment = ["HOME": folder.path, "PATH": "/usr/bin:/bin"]
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle(forWritingAtPath: output)
        try process.run()
        do {
            try Patience.until("\(kind) listens") { (try? RawSocket(port: port)) != nil }
        } catch {
            throw DidNotHappen(what: "\(kind) listens: \((try? String(contentsOfFile: output, encoding: .utf8)) ?? "")")
        }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    private func file(_ name: String) -> String { folder.appending(path: name).path }

    /// The document's configuration with other ports and the tests' certificate, within what it needs around it.
    private func configuration(plainPort: Int) throws -> String {
        let files = Certificate.usual.files
        let gateway = (documented: "127.0.0.1:7890", here: "127.0.0.1:\(plainPort)")
        switch kind {
        case .nginx:
            let snippet = try snippet(
                in: "nginx", of: "server {",
                [
                    gateway, ("listen 443 ", "listen 127.0.0.1:\(port) "), ("listen [::]:443 ", "listen 127.0.0.1:\(Self.freePort()) "),
                    ("/etc/nginx/voice.example.org.pem", files.certificatePath), ("/etc/nginx/voice.example.org.key", files.privateKeyPath),
                ])
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder.path)/\($0);" }
            return """
                daemon off;
                master_process off;
                pid \(file("nginx.pid"));
                events { worker_connections 256; }
                http {
                access_log off;
                \(temporary.joined(separator: "\n"))
                \(snippet)
                }
                """
        case .haproxy:
            let both = try [files.certificatePath, files.privateKeyPath].map { try String(contentsOfFile: $0, encoding: .utf8) }
            try both.joined().write(toFile: file("both.pem"), atomically: true, encoding: .utf8)
            let snippet = try snippet(
                in: "haproxy", of: "mode http",
                [gateway, ("bind :443 ", "bind 127.0.0.1:\(port) "), ("/etc/haproxy/voice.example.org.pem", file("both.pem"))])
            // One thread has one set of connections to reuse.
            return "global\n    maxconn 256\n    nbthread 1\n\n" + snippet
        case .caddy:
            let snippet = try snippet(
                in: "caddyfile", of: "reverse_proxy",
                [
                    gateway,
                    (
                        "voice.example.org {",
                        ":\(port) {\n\tbind 127.0.0.1\n\ttls \(files.certificatePath) \(files.privateKeyPath)"
                    ),
                ])
            return "{\n\tadmin off\n\tauto_https off\n}\n" + snippet
        }
    }

    /// A code block of the document.
    ///
    /// - Parameters:
    ///   - text: contained in the wanted one of several blocks.
    ///   - replacements: what the document says, and what holds here.
    private func snippet(
        in language: String, of text: String, _ replacements: [(documented: String, here: String)]
    ) throws -> String {
        let document = try String(contentsOfFile: Repository.path("docs/PROXIES.md"), encoding: .utf8)
        let blocks = document.components(separatedBy: "```\(language)\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        guard var block = blocks.first(where: { $0.contains(text) }) else { throw DidNotHappen(what: "a configuration of \(kind)") }
        for (documented, here) in replacements {
            guard block.contains(documented) else { throw DidNotHappen(what: "\(documented) in the document") }
            block = block.replacing(documented, with: here)
        }
        return block
    }

    private static func freePort() throws -> Int {
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        defer { listener.close() }
        return listener.port
    }
}

extension Route {
    /// Answers with the client's address, as limits and logs see it.
    static var address: Route {
        Route(.get, "/v1/address", "Shows the client's address", access: .open, responses: [.content("text/plain")]) { request, _ in
            HTTPServerResponse(status: .ok, fields: [.contentType: "text/plain"], body: Array(request.peerAddress.utf8))
        }
    }
}
