import Foundation
import Identity
import Logging
import Store

/// The store's location and master key.
struct StoreSettings {
    /// The directory of the store's file and of recordings; with `database`, of recordings only.
    var directory: String?
    /// The database with the store; nil for a store in a file.
    var database: PostgresSettings?
    /// The key itself, from the environment.
    var masterKey: SecretText?
    var masterKeyFile: String?
    var isDevelopment: Bool
    /// The option that names the location, for errors; nil: the setting does.
    var option: String?

    /// Opens the store or creates it. A new store gets a new master key unless its key file exists.
    ///
    /// - Parameters:
    ///   - others: additional keys to try.
    ///   - observe: receives the durations of the store's operations.
    /// - Throws: `UsageError` or `CommandFailure`, one line with the remedy.
    func open(
        _ access: Store.Access, _ log: Logger? = nil, knowing others: [MasterKey] = [],
        observing observe: @escaping StoreObserver = { _, _, _ in }
    ) throws -> Store {
        try explained {
            if access == .owner, let directory { try makeDirectory(directory) }
            let keys = [try key(access, log)] + others
            if let database {
                return try Store(postgres: database, masterKeys: keys, access: access, observing: observe) { reason in
                    if let reason {
                        log?.error("the store's database cannot be reached", metadata: ["reason": "\(reason)"])
                    } else {
                        log?.notice("the store's database can be reached again")
                    }
                }
            }
            return try Store(directory: fileDirectory(), masterKeys: keys, access: access, observing: observe)
        }
    }

    /// Tests whether `open(.owner)` would succeed. Creates nothing.
    ///
    /// - Returns: what there is, for people.
    /// - Throws: `UsageError` or `CommandFailure`, one line with the remedy.
    func check() throws -> String {
        try explained {
            if let directory { try checkWritable(directory) }
            switch try keySource() {
            case .key(let key):
                let (condition, server) = try condition([key])
                let prefix = server.map { $0 + ", " } ?? ""
                let backup = database == nil ? "patchbay store backup" : "pg_dump"
                return switch condition {
                case .missing: prefix + "ok; `serve` creates it"
                case .current: prefix + "ok"
                case .older:
                    prefix + "ok; `serve` updates its schema, so make a backup first (`\(backup)`)"
                }
            case .missing(let path):
                guard try !isPresent() else { throw Self.lostKey(path) }
                try checkWritable(URL(filePath: path).deletingLastPathComponent().path)
                return "ok; `serve` creates it, and its master key in \(path)"
            }
        }
    }

    /// Where the key comes from, for people.
    private var keyName: String {
        masterKey == nil ? "the key in \(masterKeyFile ?? "master.key of the store's directory")" : "that in PATCHBAY_MASTER_KEY"
    }

    /// The store's location for messages, without a password.
    var name: String { database?.name ?? directory ?? "no store" }

    var location: StoreLocation {
        get throws { try database.map(StoreLocation.database) ?? .directory(fileDirectory()) }
    }

    private func fileDirectory() throws -> String {
        guard let directory else { throw UsageError("no store; set `data`, its directory, or `database`") }
        return directory
    }

    /// Creates the settings of a database, with the password from a file if there is one.
    static func database(_ target: String, passwordFile: String?) throws -> PostgresSettings {
        let password = try passwordFile.map { path in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw UsageError(
                    "database_password_file: cannot read \(path); check the path, and that the user of the gateway may read it")
            }
            return text.trimmingCharacters(in: .newlines)
        }
        let settings = PostgresSettings(target: target, password: password)
        guard settings.isValid else {
            throw UsageError("database: not a connection URI; write it as postgresql://user@host/database?sslmode=verify-full")
        }
        return settings
    }

    /// Creates the settings of the source or destination of a copy: a directory or a URI.
    static func end(_ text: String, option: String, masterKeyFile: String?) throws -> StoreSettings {
        let environment = ProcessInfo.processInfo.environment
        let isDatabase = text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
        return StoreSettings(
            directory: isDatabase ? nil : text,
            database: isDatabase ? try database(text, passwordFile: environment["PATCHBAY_DATABASE_PASSWORD_FILE"]) : nil,
            masterKey: masterKeyFile == nil ? environment["PATCHBAY_MASTER_KEY"].map(SecretText.init) : nil,
            masterKeyFile: masterKeyFile ?? environment["PATCHBAY_MASTER_KEY_FILE"],
            isDevelopment: !isDatabase && FileManager.default.fileExists(atPath: text + "/master.key"), option: option)
    }

    /// The condition of the store, and a description of the database server; nil for a store in a file.
    private func condition(_ keys: [MasterKey]) throws -> (Store.Condition, server: String?) {
        guard let database else { return (try Store.condition(directory: fileDirectory(), masterKeys: keys), nil) }
        let (condition, version, latency) = try Store.condition(postgres: database, masterKeys: keys)
        let milliseconds = latency / .milliseconds(1)
        return (condition, "PostgreSQL \(version), answers in \(milliseconds.formatted(.number.precision(.fractionLength(1)))) ms")
    }

    private func isPresent() throws -> Bool {
        guard database != nil else { return FileManager.default.fileExists(atPath: try fileDirectory() + "/patchbay.sqlite") }
        // Without keys, `wrongMasterKey` means that there is a store.
        do { return try condition([]).0 != .missing } catch StoreError.wrongMasterKey { return true }
    }

    /// - Throws: `UsageError` if the directory, or the nearest existing one above it, cannot be written to.
    private func checkWritable(_ path: String) throws {
        var existing = URL(filePath: path).standardizedFileURL
        while !FileManager.default.fileExists(atPath: existing.path), existing.path != "/" { existing.deleteLastPathComponent() }
        guard FileManager.default.isWritableFile(atPath: existing.path) else {
            throw UsageError("data: cannot write to \(existing.path); check its owner and permissions")
        }
    }

    /// Converts errors of the store to messages of one line that name a remedy.
    func explained<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch StoreError.alreadyOpen(let store, let owner) {
            let user = owner.map { "the gateway, \($0)" } ?? "a gateway"
            let place = database == nil ? "another directory with --data" : "another database with --database"
            throw CommandFailure("\(setting): the store in \(store) is in use by \(user); stop it first, or pass \(place)")
        } catch StoreError.wrongMasterKey(let id) {
            throw UsageError(
                "master key: \(keyName) is not the key of \(name): the store is locked with the master key \(id); pass the file that was "
                    + "made with this store, after `store rotate-key` the new one, in --master-key or `master_key_file`")
        } catch let error as StoreError {
            switch error {
            case .full, .busy, .unreachable, .cancelled, .failed: throw CommandFailure("\(setting): \(error)")
            default: throw UsageError("\(setting): \(error)")
            }
        } catch let error as MasterKeyError {
            throw UsageError("master key: \(error)\(Self.remedy(error).map { " " + $0 } ?? "")")
        }
    }

    /// The key of the setting with the store's location.
    private var setting: String { option ?? (database == nil ? "data" : "database") }

    private func makeDirectory(_ directory: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw UsageError("data: the directory \(directory) cannot be created; check the path and its permissions")
        }
    }

    private enum KeySource {
        case key(MasterKey)
        /// The file does not exist.
        case missing(path: String)
    }

    private func keySource() throws -> KeySource {
        if let masterKey {
            guard let key = MasterKey(text: masterKey) else {
                throw UsageError(
                    "PATCHBAY_MASTER_KEY: not 32 bytes in base64 or hexadecimal; `openssl rand -base64 32` generates such a key")
            }
            return .key(key)
        }
        // A key next to the data protects nothing, so this is only for development.
        guard let path = masterKeyFile ?? (isDevelopment ? directory.map { $0 + "/master.key" } : nil) else {
            throw UsageError(
                "\(setting): the store needs a master key; give --master-key FILE (made if it is not there) or PATCHBAY_MASTER_KEY")
        }
        return FileManager.default.fileExists(atPath: path) ? .key(try MasterKey(file: path)) : .missing(path: path)
    }

    private static func lostKey(_ path: String) -> UsageError {
        UsageError("master key: there is no file \(path); the store cannot be opened without the key that encrypted it")
    }

    func key(_ access: Store.Access, _ log: Logger?) throws -> MasterKey {
        let path: String
        switch try keySource() {
        case .key(let key): return key
        case .missing(let missing): path = missing
        }
        guard access == .owner, try !isPresent() else { throw Self.lostKey(path) }
        let key = try MasterKey.make(file: path)
        log?.notice("created a master key; the store cannot be opened without it, so keep a copy elsewhere", metadata: ["file": "\(path)"])
        return key
    }

    private static func remedy(_ error: MasterKeyError) -> String? {
        switch error {
        case .unreadable: "Check the path, and that the user of the gateway may read the file."
        case .unwritable(let path, _):
            "Check the path, or create it yourself with `openssl rand -hex 32 > \(path)`, readable only for the user of the gateway."
        case .notAKey: "Pass the file that was created with this store; `openssl rand -hex 32` makes a key for a new one."
        }
    }
}
