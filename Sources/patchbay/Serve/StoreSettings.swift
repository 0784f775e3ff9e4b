import Foundation
import Identity
import Logging
import Store

/// Where the store is, and with what it is locked.
struct StoreSettings {
    var directory: String
    /// The key itself, from the environment.
    var masterKey: SecretText?
    var masterKeyFile: String?
    var isDevelopment: Bool

    /// Opens the store, which is made if there is none. A new one gets a new master key if its file is not there yet.
    ///
    /// - Parameter others: keys with which it may be locked instead.
    /// - Throws: `UsageError`, a line that says what to do.
    func open(_ access: SessionStore.Access, _ log: Logger? = nil, knowing others: [MasterKey] = []) throws -> SessionStore {
        do {
            return try SessionStore(directory: directory, masterKeys: [try key(access, log)] + others, access: access)
        } catch StoreError.alreadyOpen(let directory) {
            throw UsageError("data: the store in \(directory) is in use, for this the gateway has to be stopped")
        } catch let error as StoreError {
            throw UsageError("data: \(error)")
        } catch let error as MasterKeyError {
            throw UsageError("master key: \(error)")
        }
    }

    private func key(_ access: SessionStore.Access, _ log: Logger?) throws -> MasterKey {
        if let masterKey {
            guard let key = MasterKey(text: masterKey) else {
                throw UsageError("PATCHBAY_MASTER_KEY: not 32 bytes in base64 or hexadecimal; `openssl rand -base64 32` makes such a key")
            }
            return key
        }
        // Beside the data only where nobody's life is in it.
        guard let path = masterKeyFile ?? (isDevelopment ? directory + "/master.key" : nil) else {
            throw UsageError(
                "data: the store needs a master key; give --master-key FILE (made if it is not there) or PATCHBAY_MASTER_KEY")
        }
        if FileManager.default.fileExists(atPath: path) { return try MasterKey(file: path) }
        guard access == .owner, !FileManager.default.fileExists(atPath: directory + "/patchbay.sqlite") else {
            throw UsageError("master key: there is no file \(path), and without the key that it was locked with the store opens for nobody")
        }
        log?.notice("a new master key; without it the store opens for nobody, so keep a copy elsewhere", metadata: ["file": "\(path)"])
        return try MasterKey.make(file: path)
    }
}
