import ArgumentParser
import Foundation
import Identity
import Sessions

/// Where a store is and what opens it: the same for all commands that look into one.
struct StoreOptions: ParsableArguments {
    @Option(help: "The directory of the store, as given to `serve` (environment: PATCHBAY_DATA).")
    var data: String?
    @Option(
        name: .customLong("master-key"),
        help: ArgumentHelp(
            "The file with the store's master key (environment: PATCHBAY_MASTER_KEY_FILE, or the key itself in PATCHBAY_MASTER_KEY).",
            valueName: "file"))
    var masterKey: String?

    /// The store as it is, beside a gateway that may be running.
    ///
    /// - Throws: `UsageError` if there is none, or it does not open with this key.
    func openBeside() throws -> Store {
        let environment = ProcessInfo.processInfo.environment
        guard let directory = data ?? environment["PATCHBAY_DATA"] else {
            throw UsageError("no store; name its directory with --data or PATCHBAY_DATA")
        }
        let key = try key(environment)
        do throws(StoreError) {
            return try Store(directory: directory, masterKeys: [key], access: .beside)
        } catch {
            throw UsageError("--data \(directory): \(error)")
        }
    }

    private func key(_ environment: [String: String]) throws -> MasterKey {
        if let path = masterKey ?? environment["PATCHBAY_MASTER_KEY_FILE"] {
            do { return try MasterKey(file: path) } catch { throw UsageError("\(error)") }
        }
        guard let text = environment["PATCHBAY_MASTER_KEY"] else {
            throw UsageError("no master key; name its file with --master-key, or put it into PATCHBAY_MASTER_KEY")
        }
        guard let key = MasterKey(text: SecretText(text)) else {
            throw UsageError("PATCHBAY_MASTER_KEY holds no master key: 32 bytes in base64 or as 64 hexadecimal digits are expected")
        }
        return key
    }
}
