import Foundation
import Identity
import Logging
import Store

/// The store's location and master key.
struct StoreSettings {
    var directory: String
    /// The key itself, from the environment.
    var masterKey: SecretText?
    var masterKeyFile: String?
    var isDevelopment: Bool

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
            if access == .owner { try makeDirectory() }
            return try Store(directory: directory, masterKeys: [try key(access, log)] + others, access: access, observing: observe)
        }
    }

    /// Tests whether `open(.owner)` would succeed. Creates nothing.
    ///
    /// - Returns: what there is, for people.
    /// - Throws: `UsageError` or `CommandFailure`, one line with the remedy.
    func check() throws -> String {
        try explained {
            try checkWritable(directory)
            switch try keySource() {
            case .key(let key):
                return switch try Store.condition(directory: directory, masterKeys: [key]) {
                case .missing: "ok; `serve` creates it"
                case .current: "ok"
                case .older: "ok; `serve` updates its schema, so make a backup first (`patchbay store backup`)"
                }
            case .missing(let path):
                guard !isPresent else { throw Self.lostKey(path) }
                try checkWritable(URL(filePath: path).deletingLastPathComponent().path)
                return "ok; `serve` creates it, and its master key in \(path)"
            }
        }
    }

    /// Where the key comes from, for people.
    private var keyName: String {
        masterKey == nil ? "the key in \(masterKeyFile ?? directory + "/master.key")" : "that in PATCHBAY_MASTER_KEY"
    }

    private var isPresent: Bool { FileManager.default.fileExists(atPath: directory + "/patchbay.sqlite") }

    /// - Throws: `UsageError` if the directory, or the nearest existing one above it, cannot be written to.
    private func checkWritable(_ path: String) throws {
        var existing = URL(filePath: path).standardizedFileURL
        while !FileManager.default.fileExists(atPath: existing.path), existing.path != "/" { existing.deleteLastPathComponent() }
        guard FileManager.default.isWritableFile(atPath: existing.path) else {
            throw UsageError("data: cannot write to \(existing.path); check its owner and permissions")
        }
    }

    private func explained<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch StoreError.alreadyOpen(let directory, let process) {
            throw CommandFailure(
                "data: the store in \(directory) is in use by the gateway with process ID \(process.map { "\($0)" } ?? "unknown"); "
                    + "stop it first, or pass another directory with --data")
        } catch StoreError.wrongMasterKey(let id) {
            throw UsageError(
                "master key: \(keyName) is not the key of \(directory): the store is locked with the master key \(id); pass the file that was "
                    + "made with this store, after `store rotate-key` the new one, in --master-key or `master_key_file`")
        } catch let error as StoreError {
            switch error {
            case .full, .busy, .unreachable, .cancelled, .failed: throw CommandFailure("data: \(error)")
            default: throw UsageError("data: \(error)")
            }
        } catch let error as MasterKeyError {
            throw UsageError("master key: \(error)\(Self.remedy(error).map { " " + $0 } ?? "")")
        }
    }

    private func makeDirectory() throws {
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
        guard let path = masterKeyFile ?? (isDevelopment ? directory + "/master.key" : nil) else {
            throw UsageError(
                "data: the store needs a master key; give --master-key FILE (made if it is not there) or PATCHBAY_MASTER_KEY")
        }
        return FileManager.default.fileExists(atPath: path) ? .key(try MasterKey(file: path)) : .missing(path: path)
    }

    private static func lostKey(_ path: String) -> UsageError {
        UsageError("master key: there is no file \(path); the store cannot be opened without the key that encrypted it")
    }

    private func key(_ access: Store.Access, _ log: Logger?) throws -> MasterKey {
        let path: String
        switch try keySource() {
        case .key(let key): return key
        case .missing(let missing): path = missing
        }
        guard access == .owner, !isPresent else { throw Self.lostKey(path) }
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
