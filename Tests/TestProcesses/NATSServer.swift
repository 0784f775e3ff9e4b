internal import Foundation
internal import Glibc
internal import Synchronization

/// A nats-server on a free loopback port, with its data in its own folder. It ends with its last reference or with the tests' process,
/// however that ends.
package final class NATSServer: Sendable {
    private static let program = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map { $0 + "/nats-server" }.first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    package static let isInstalled = program != nil

    /// Of the configuration, certificates, the log and the data.
    package let folder = "/tmp/pb-\(UUID().uuidString.prefix(13))"
    package let port: Int
    package var address: String { "127.0.0.1:\(port)" }
    private let lines: [String]
    /// Ends the server when its standard input ends.
    private let shell = Mutex<Lifeline?>(nil)

    /// - Parameters:
    ///   - hasJetStream: whether it stores records.
    ///   - configuration: further lines of its configuration; gets the folder.
    package init(hasJetStream: Bool = true, configuration: (String) throws -> [String] = { _ in [] }) throws {
        port = try Self.freePort()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        lines = try configuration(folder)
        try start(hasJetStream: hasJetStream)
    }

    deinit {
        end(isKept: false)
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Life and death

    package func start(hasJetStream: Bool = true) throws {
        let jetStream = "jetstream { store_dir: \"\(folder)/data\", max_mem: 16MB, max_file: 1GB }"
        let all = ["listen: \"127.0.0.1:\(port)\""] + lines + (hasJetStream ? [jetStream] : [])
        try Data(all.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: folder + "/configuration"))
        // The shell ends the server when the tests end.
        let script = #"""
            "$@" >>"\#(folder)/log" 2>&1 &
            echo $! >"\#(folder)/pid"
            read -r kept
            kill -KILL $!
            wait
            [ -n "$kept" ] || rm -rf "\#(folder)"
            """#
        let started = try Lifeline(script, [Self.program ?? "nats-server", "-c", folder + "/configuration"])
        shell.withLock { $0 = started }
        try until("the server answers") { Self.connects(to: port) }
    }

    /// Ends the server without warning. Its data stays.
    package func kill() { end(isKept: true) }

    package func loseData() throws { try FileManager.default.removeItem(atPath: folder + "/data") }

    /// Stops all of its threads: its sockets stay open, and nobody answers.
    package func freeze() throws {
        let process = try process()
        Glibc.kill(process, SIGSTOP)
        try until("the server has stopped") {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
            return threads.allSatisfy { thread in
                // The name in parentheses may contain spaces.
                let text = try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/stat", encoding: .utf8)
                return text?.split(separator: ")").last?.hasPrefix(" T") ?? true
            }
        }
    }

    package func thaw() throws { Glibc.kill(try process(), SIGCONT) }

    private func process() throws -> pid_t {
        guard let process = pid_t(try String(contentsOfFile: folder + "/pid", encoding: .utf8).dropLast()) else {
            throw NATSServerError("the server has no process")
        }
        return process
    }

    private func end(isKept: Bool) {
        let ended = shell.withLock { shell in
            defer { shell = nil }
            return shell
        }
        guard let ended else { return }
        if isKept { try? ended.input.write(contentsOf: Data("kept\n".utf8)) }
        ended.end()
    }

    // MARK: Ports

    /// A port that nobody listens on.
    package static func freePort() throws -> Int {
        try withSocket(port: 0) { socket, address, length in
            guard Glibc.bind(socket, address, length) == 0 else { throw NATSServerError("no port") }
            var bound = sockaddr_in()
            var size = length
            let isKnown = withUnsafeMutablePointer(to: &bound) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) == 0 }
            }
            guard isKnown else { throw NATSServerError("no port") }
            return Int(UInt16(bigEndian: bound.sin_port))
        }
    }

    private static func connects(to port: Int) -> Bool {
        (try? withSocket(port: port) { Glibc.connect($0, $1, $2) == 0 }) ?? false
    }

    private static func withSocket<T>(port: Int, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) throws -> T) throws -> T {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return try withUnsafePointer(to: address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    private func until(_ what: String, _ condition: () -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !condition() {
            guard ContinuousClock.now < deadline else { throw NATSServerError("did not happen: \(what)") }
            usleep(10_000)
        }
    }
}

package struct NATSServerError: Error {
    package let what: String

    package init(_ what: String) { self.what = what }
}
