import ArgumentParser
import Foundation
import Identity
import Store

/// The options of all commands for stores.
struct StoreKeyOptions: ParsableArguments {
    @Option(
        name: .customLong("master-key"),
        help: ArgumentHelp(
            "The file with the store's master key (environment: PATCHBAY_MASTER_KEY_FILE, or the key itself in PATCHBAY_MASTER_KEY; default: master.key in the store's directory, where `serve --dev` creates it).",
            valueName: "file"))
    var masterKey: String?
    @Flag(help: "Print JSON.")
    var json = false
}

/// The store's location and key, shared by all commands that open a store.
struct StoreOptions: ParsableArguments {
    @Option(help: "The store's directory, as passed to `serve` (environment: PATCHBAY_DATA).")
    var data: String?
    @Option(help: "The URI of the store's PostgreSQL database, as passed to `serve` (environment: PATCHBAY_DATABASE).")
    var database: String?
    @OptionGroup var common: StoreKeyOptions

    var json: Bool { common.json }

    /// - Throws: `UsageError` if no directory is given.
    func directory() throws -> String {
        guard let directory = data ?? ProcessInfo.processInfo.environment["PATCHBAY_DATA"] else {
            throw UsageError(
                "no store; pass its directory with --data or PATCHBAY_DATA, or its database with --database or PATCHBAY_DATABASE")
        }
        guard FileManager.default.fileExists(atPath: directory + "/patchbay.sqlite") else {
            throw UsageError("--data \(directory): there is no store; `patchbay serve --data \(directory)` creates one")
        }
        return directory
    }

    /// Opens an existing store, also while a gateway is using it.
    ///
    /// - Throws: `UsageError` if the store does not exist or does not open with this key.
    func openBeside() throws -> Store {
        try settings().open(.beside)
    }

    func settings() throws -> StoreSettings {
        let environment = ProcessInfo.processInfo.environment
        // An option takes precedence over the environment.
        let target = database ?? (data == nil ? environment["PATCHBAY_DATABASE"] : nil)
        let settings = try target.map {
            try StoreSettings.database($0, passwordFile: environment["PATCHBAY_DATABASE_PASSWORD_FILE"])
        }
        let directory = settings == nil ? try directory() : data ?? environment["PATCHBAY_DATA"]
        return StoreSettings(
            directory: directory, database: settings,
            masterKey: common.masterKey == nil ? environment["PATCHBAY_MASTER_KEY"].map(SecretText.init) : nil,
            masterKeyFile: common.masterKey ?? environment["PATCHBAY_MASTER_KEY_FILE"],
            isDevelopment: directory.map { FileManager.default.fileExists(atPath: $0 + "/master.key") } ?? false)
    }

    /// Reports success: a sentence, or an object with `--json`.
    func printDone(_ sentence: String, _ object: some Encodable) throws {
        if json { return try Console.say(json: object) }
        Console.say(sentence)
    }
}

/// JSON output: the file written, and its size in bytes.
struct WrittenFile: Encodable {
    var file: String
    var bytes: Int
}
