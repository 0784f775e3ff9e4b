import Foundation
import Glibc
import Synchronization
import Testing

@testable import Store

/// A PostgreSQL server on a Unix socket in its own folder. It ends with its last reference or with the tests' process, however that ends.
final class PostgresServer: Sendable {
    /// PostgreSQL's programs of the newest version; scripts/setup installs them. Nil if there are none.
    static let programs: String? = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        return versions.compactMap { Int($0) }.sorted(by: >).map { "/usr/lib/postgresql/\($0)/bin" }.first {
            FileManager.default.isExecutableFile(atPath: $0 + "/initdb")
        }
    }()
    static let isInstalled = programs != nil

    /// The server of tests that do not disturb it.
    static func shared() throws -> PostgresServer { try theShared.get() }
    private static let theShared = Result { try PostgresServer() }

    /// A role that needs the password `tops3cret`; all others need none.
    static let lockedRole = "locked"

    /// Of the socket and the data.
    let folder: String
    var dataFolder: String { folder + "/data" }
    private let options: [String]
    /// Kept until the server is to end.
    private let lifeline = Mutex<Lifeline?>(nil)
    private let databases = Atomic(0)

    /// The shell between the tests and the server: it ends the server when its standard input ends.
    struct Lifeline: Sendable {
        let shell: Process
        let input: FileHandle
    }

    init(options: [String] = []) throws {
        // A socket's path has at most 107 bytes.
        folder = "/tmp/pb-\(UUID().uuidString.prefix(13))"
        self.options = options
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        Self.giveAway(folder)
        let initdb = try Self.shell(
            #""$@" >&2"#,
            Self.command(
                "initdb", ["-D", folder + "/data", "-U", "postgres", "--locale=C", "--encoding=UTF8", "--auth=trust", "--no-sync"]))
        initdb.shell.waitUntilExit()
        guard initdb.shell.terminationStatus == 0 else { throw PostgresServerError("initdb failed") }
        let access = "local all \(Self.lockedRole) scram-sha-256\nlocal all all trust\n"
        try Data(access.utf8).write(to: URL(filePath: folder + "/data/pg_hba.conf"))
        try start()
        try administer().run("CREATE ROLE \(Self.lockedRole) LOGIN PASSWORD 'tops3cret'")
    }

    deinit {
        end(isKept: false)
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Databases

    /// - Returns: the connection string of a new database.
    func makeDatabase() throws -> String {
        let name = "test\(databases.add(1, ordering: .relaxed).newValue)"
        try administer().run("CREATE DATABASE \(name)")
        return target(of: name)
    }

    func target(of database: String, role: String = "postgres") -> String { "host=\(folder) user=\(role) dbname=\(database)" }

    private func administer() throws -> PostgresConnection {
        var settings = PostgresSettings(target: target(of: "postgres"))
        settings.statementTimeout = .seconds(60)
        return try PostgresConnection(settings)
    }

    // MARK: Life and death

    func start() throws {
        let settings = [
            "listen_addresses=", "unix_socket_directories=\(folder)", "fsync=off", "shared_buffers=16MB", "max_connections=40",
            "deadlock_timeout=50ms", "autovacuum=off", "log_min_messages=panic",
        ]
        let arguments = ["-D", folder + "/data"] + (settings + options).flatMap { ["-c", $0] }
        // `setpriv` executes the server in its own place, so `$!` is the server's process ID. The shell ends the server when the tests end.
        let script = #"""
            "$@" >/dev/null 2>&1 &
            read -r kept
            kill -QUIT $!
            kill -CONT $!
            wait
            [ -n "$kept" ] || rm -rf "\#(folder)"
            """#
        lifeline.withLock { $0 = try? Self.shell(script, Self.command("postgres", arguments)) }
        try until("the server answers") { (try? administer()) != nil }
    }

    /// Ends the server without warning, as a power failure would.
    func kill() throws {
        let processes = processes()
        for process in processes { Glibc.kill(process, SIGSTOP) }
        for process in processes { Glibc.kill(process, SIGKILL) }
        try until("the server has ended") { processes.allSatisfy { !Self.isRunning($0) } }
        end(isKept: true)
    }

    /// Stops all of the server's processes: their sockets stay open, and nobody answers.
    func freeze() { for process in processes() { Glibc.kill(process, SIGSTOP) } }

    func thaw() { for process in processes() { Glibc.kill(process, SIGCONT) } }

    /// - Parameter isKept: whether the folder stays, for another start.
    private func end(isKept: Bool) {
        let ended = lifeline.withLock { lifeline in
            defer { lifeline = nil }
            return lifeline
        }
        guard let ended else { return }
        thaw()
        if isKept { try? ended.input.write(contentsOf: Data("kept\n".utf8)) }
        try? ended.input.close()
        // The shell collects the server's process: a server does not start while the number of its predecessor exists.
        ended.shell.waitUntilExit()
    }

    /// The server's main process and its children.
    private func processes() -> [pid_t] {
        guard let text = try? String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8),
            let main = text.split(separator: "\n").first.flatMap({ pid_t($0) })
        else { return [] }
        let all = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
        return [main] + all.filter { Self.status(of: $0)?.parent == main }
    }

    private static func isRunning(_ process: pid_t) -> Bool { status(of: process).map { $0.letter != "Z" } ?? false }

    private static func status(of process: pid_t) -> (letter: String, parent: pid_t)? {
        // The name in parentheses may contain spaces.
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 1, let parent = pid_t(fields[1])
        else { return nil }
        return (String(fields[0]), parent)
    }

    private static func command(_ program: String, _ arguments: [String]) -> [String] {
        unprivileged([(programs ?? "") + "/" + program] + arguments)
    }

    // MARK: Processes

    /// PostgreSQL and poolers refuse to run as root.
    static func unprivileged(_ command: [String]) -> [String] {
        geteuid() == 0 ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] + command : command
    }

    /// Gives a file or folder to the user that runs `unprivileged` commands.
    static func giveAway(_ path: String) {
        if geteuid() == 0, let nobody = getpwnam("nobody") { chown(path, nobody.pointee.pw_uid, nobody.pointee.pw_gid) }
    }

    /// Runs a script with a command as its arguments.
    static func shell(_ script: String, _ arguments: [String]) throws -> Lifeline {
        // Closed on exec: no other process keeps the server alive.
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw PostgresServerError("no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let process = Process()
        // Processes of Foundation may start with blocked signals, with which `wait` of dash never returns.
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", script, "bash"] + arguments
        process.currentDirectoryURL = URL(filePath: "/")
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"]
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return Lifeline(shell: process, input: FileHandle(fileDescriptor: ends[1], closeOnDealloc: true))
    }
}

struct PostgresServerError: Error {
    let what: String

    init(_ what: String) { self.what = what }
}

/// Waits until `condition` holds, at most a minute.
func until(_ what: String, _ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try !condition() {
        guard ContinuousClock.now < deadline else { throw PostgresServerError("did not happen: \(what)") }
        usleep(20_000)
    }
}

extension PostgresPool {
    /// `transaction` on one of the pool's threads.
    @discardableResult
    func run<T: Sendable>(
        _ mode: Mode = .write, timeout: Duration? = nil, _ body: @Sendable (PostgresConnection) throws -> T
    ) async throws -> T {
        try await withTaskExecutorPreference(threads) { try transaction(mode, timeout: timeout, body) }
    }
}
