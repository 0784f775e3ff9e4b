internal import CPostgres
internal import Foundation
internal import Glibc
internal import Synchronization
internal import TestProcesses

/// A PostgreSQL server on a Unix socket in its own folder. It ends with its last reference or with the tests' process, however that ends.
package final class PostgresServer: Sendable {
    /// PostgreSQL's programs of the newest version; scripts/setup installs them. Nil if there are none.
    static let programs: String? = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        return versions.compactMap { Int($0) }.sorted(by: >).map { "/usr/lib/postgresql/\($0)/bin" }.first {
            FileManager.default.isExecutableFile(atPath: $0 + "/initdb")
        }
    }()
    package static let isInstalled = programs != nil

    /// Whether servers can have a small disk: root may mount one.
    package static let canMount: Bool = {
        geteuid() == 0 && (try? Lifeline.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"])) != nil
    }()

    /// The server of tests that do not disturb it.
    package static func shared() throws -> PostgresServer { try theShared.get() }
    private static let theShared = Result { try PostgresServer() }

    /// A role that needs the password `tops3cret`; all others need none.
    package static let lockedRole = "locked"

    /// Of the socket and the data.
    package let folder: String
    package var dataFolder: String { folder + "/data" }
    /// The mount point of the small disk, for a tablespace.
    package var diskFolder: String { folder + "/disk" }
    private let options: [String]
    /// In bytes; nil for none.
    private let diskSize: Int?
    /// Kept until the server is to end.
    private let lifeline = Mutex<Lifeline?>(nil)
    private let databases = Atomic(0)

    /// - Parameters:
    ///   - options: settings of the server, `name=value`.
    ///   - access: lines of `pg_hba.conf`, before those for the socket.
    ///   - diskSize: the size of a disk at `diskFolder` in bytes. Only the server sees it; requires `canMount`.
    ///   - prepare: called before the start.
    package convenience init(
        options: [String] = [], access: [String] = [], diskSize: Int? = nil, prepare: (PostgresServer) throws -> Void = { _ in }
    ) throws {
        try self.init(options, diskSize)
        try Self.execute("initdb", "-D", dataFolder, "-U", "postgres", "--locale=C", "--encoding=UTF8", "--auth=trust", "--no-sync")
        let local = ["local all \(Self.lockedRole) scram-sha-256", "local all all trust", "local replication all trust"]
        try Data((access + local).map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: dataFolder + "/pg_hba.conf"))
        try prepare(self)
        try start()
        try run("CREATE ROLE \(Self.lockedRole) LOGIN PASSWORD 'tops3cret'")
    }

    /// Makes a standby: a server with a copy of another one's databases, which can only be read.
    package convenience init(standbyOf primary: PostgresServer) throws {
        try self.init([], nil)
        try Self.execute(
            "pg_basebackup", "-D", dataFolder, "-d", "host=\(primary.folder) user=postgres", "--checkpoint=fast", "--write-recovery-conf",
            "--no-sync")
        try start()
    }

    private init(_ options: [String], _ diskSize: Int?) throws {
        // A socket's path has at most 107 bytes.
        folder = "/tmp/pb-\(UUID().uuidString.prefix(13))"
        (self.options, self.diskSize) = (options, diskSize)
        try FileManager.default.createDirectory(atPath: folder + "/disk", withIntermediateDirectories: true)
        Self.giveAway(folder)
    }

    deinit {
        end(isKept: false)
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Databases

    /// - Parameter tablespace: where its files are; nil for the data's folder.
    /// - Returns: the connection string of a new database.
    package func makeDatabase(in tablespace: String? = nil) throws -> String {
        let name = "test\(databases.add(1, ordering: .relaxed).newValue)"
        try run("CREATE DATABASE \(name)" + (tablespace.map { " TABLESPACE \($0)" } ?? ""))
        return target(of: name)
    }

    package func target(of database: String, role: String = "postgres") -> String { "host=\(folder) user=\(role) dbname=\(database)" }

    /// Runs statements in a database.
    package func run(_ script: String, in database: String = "postgres") throws {
        try Self.run(script, at: target(of: database))
    }

    /// Runs statements in the database of a connection string.
    package static func run(_ script: String, at target: String) throws {
        let connection = PQconnectdb(target)
        defer { PQfinish(connection) }
        let result = PQexec(connection, script)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw PostgresServerError(PQerrorMessage(connection).map { String(cString: $0) } ?? "no memory")
        }
    }

    /// Replaces a database by an empty one of the same name, and disconnects its clients.
    package func emptyDatabase(_ name: String) throws {
        try dropDatabase(name)
        try run("CREATE DATABASE \(name)")
    }

    package func dropDatabase(_ name: String) throws { try run("DROP DATABASE \(name) WITH (FORCE)") }

    // MARK: Life and death

    package func start() throws {
        let settings = [
            "listen_addresses=", "unix_socket_directories=\(folder)", "fsync=off", "shared_buffers=16MB", "max_connections=150",
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
        lifeline.withLock { $0 = try? Lifeline(script, mounting(Self.command("postgres", arguments))) }
        try until("the server answers") { PQping(target(of: "postgres")) == PQPING_OK }
    }

    /// Ends the server without warning, as a power failure would.
    package func kill() throws {
        let processes = processes()
        for process in processes { Glibc.kill(process, SIGSTOP) }
        for process in processes { Glibc.kill(process, SIGKILL) }
        try until("the server has ended") { processes.allSatisfy { !Self.isRunning($0) } }
        end(isKept: true)
    }

    /// Stops all of the server's processes: their sockets stay open, and nobody answers.
    package func freeze() { for process in processes() { Glibc.kill(process, SIGSTOP) } }

    package func thaw() { for process in processes() { Glibc.kill(process, SIGCONT) } }

    /// - Parameter isKept: whether the folder stays, for another start.
    private func end(isKept: Bool) {
        let ended = lifeline.withLock { lifeline in
            defer { lifeline = nil }
            return lifeline
        }
        guard let ended else { return }
        thaw()
        if isKept { try? ended.input.write(contentsOf: Data("kept\n".utf8)) }
        // The shell collects the server's process: a server does not start while the number of its predecessor exists.
        ended.end()
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

    /// A command with the small disk in its own mount namespace, with which the disk ends.
    private func mounting(_ command: [String]) -> [String] {
        guard let diskSize, let nobody = getpwnam("nobody") else { return command }
        let options = "size=\(diskSize),uid=\(nobody.pointee.pw_uid),gid=\(nobody.pointee.pw_gid),mode=0700"
        let script = #"mount -t tmpfs -o "$1" tmpfs "$2" && shift 2 && exec "$@""#
        return ["unshare", "--mount", "sh", "-c", script, "sh", options, diskFolder] + command
    }

    private static func command(_ program: String, _ arguments: [String]) -> [String] {
        unprivileged([(programs ?? "") + "/" + program] + arguments)
    }

    /// Runs one of PostgreSQL's programs to its end.
    private static func execute(_ program: String, _ arguments: String...) throws {
        try Lifeline.run(command(program, arguments))
    }

    // MARK: Processes

    /// PostgreSQL and poolers refuse to run as root.
    package static func unprivileged(_ command: [String]) -> [String] {
        geteuid() == 0 ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] + command : command
    }

    /// Gives a file or folder to the user that runs `unprivileged` commands.
    package static func giveAway(_ path: String) {
        if geteuid() == 0, let nobody = getpwnam("nobody") { chown(path, nobody.pointee.pw_uid, nobody.pointee.pw_gid) }
    }
}

package struct PostgresServerError: Error {
    let what: String

    package init(_ what: String) { self.what = what }
}

/// Waits until `condition` holds, at most a minute.
package func until(_ what: String, _ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try !condition() {
        guard ContinuousClock.now < deadline else { throw PostgresServerError("did not happen: \(what)") }
        usleep(20_000)
    }
}
