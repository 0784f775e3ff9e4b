import Foundation
import TestProcesses
import TestStore
import Testing

@testable import Store

/// PgBouncer in transaction mode, with fewer connections to the server than clients have to it: each transaction may use another one.
final class PostgresPooler: Sendable {
    static let isInstalled = FileManager.default.isExecutableFile(atPath: program)
    private static let program = "/usr/sbin/pgbouncer"

    private let folder = "/tmp/pb-\(UUID().uuidString.prefix(13))"
    private let lifeline: Lifeline

    init(before server: PostgresServer) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        PostgresServer.giveAway(folder)
        try Data("\"postgres\" \"\"\n".utf8).write(to: URL(filePath: folder + "/users"))
        let settings = """
            [databases]
            * = host=\(server.folder)
            [pgbouncer]
            listen_addr =
            listen_port = 6432
            unix_socket_dir = \(folder)
            auth_type = trust
            auth_file = \(folder)/users
            pool_mode = transaction
            default_pool_size = 2
            """
        try Data(settings.utf8).write(to: URL(filePath: folder + "/settings"))
        let script = #"""
            "$@" >/dev/null 2>&1 &
            read -r _
            kill -KILL $!
            wait
            rm -rf "\#(folder)"
            """#
        lifeline = try Lifeline(script, PostgresServer.unprivileged([Self.program, folder + "/settings"]))
        try until("the pooler answers") { (try? PostgresConnection(PostgresSettings(target: target(of: "postgres")))) != nil }
    }

    deinit { lifeline.end() }

    func target(of database: String) -> String { "host=\(folder) port=6432 user=postgres dbname=\(database)" }
}
