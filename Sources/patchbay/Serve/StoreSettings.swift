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
    /// - Parameter others: additional keys to try.
    /// - Throws: `UsageError`, one line with the remedy.
    func open(_ access: SessionStore.Access, _ log: Logger? = nil, knowing others: [MasterKey] = []) throws -> SessionStore {
        do {
            return try SessionStore(directory: directory, masterKeys: [try key(access, log)] + others, access: access)
        } catch StoreError.alreadyOpen(let directory, let process) {
            throw UsageError(
                "data: the store in \(directory) is in use by the gateway with process ID \(process.map { "\($0)" } ?? "unknown"); "
                    + "stop it first, or pass another directory with --data")
        } catch let error as StoreError {
            throw UsageError("data: \(error)")
        } catch let error as MasterKeyError {
            throw UsageError("master key: \(error)\(Self.remedy(error).map { " " + $0 } ?? "")")
        }
    }

    private func key(_ access: SessionStore.Access, _ log: Logger?) throws -> MasterKey {
        if let masterKey {
            guard let key = MasterKey(text: masterKey) else {
                throw UsageError(
                    "PATCHBAY_MASTER_KEY: not 32 bytes in base64 or hexadecimal; `openssl rand -base64 32` generates such a key")
            }
            return key
        }
        // A key next to the data protects nothing, so this is only for development.
        guard let path = masterKeyFile ?? (isDevelopment ? directory + "/master.key" : nil) else {
            throw UsageError(
                "data: the store needs a master key; give --master-key FILE (made if it is not there) or PATCHBAY_MASTER_KEY")
        }
        if FileManager.default.fileExists(atPath: path) { return try MasterKey(file: path) }
        guard access == .owner, !FileManager.default.fileExists(atPath: directory + "/patchbay.sqlite") else {
            throw UsageError("master key: there is no file \(path); the store cannot be opened without the key that encrypted it")
        }
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
