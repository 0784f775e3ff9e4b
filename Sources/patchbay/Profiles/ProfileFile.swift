import Foundation
import YAMLSettings

/// The user's profiles: `profiles.json` in the configuration directory.
///
///     {"default": "shop", "profiles": {"shop": {"url": "wss://voice.example", "api_key": "my-app", "api_secret_env": "SHOP_SECRET"}}}
struct ProfileFile {
    let path: String
    /// The name of the default profile; nil if there is none.
    var standard: String?
    var profiles: [String: Profile]

    /// A profile with its name.
    struct Choice {
        let name: String
        let profile: Profile
    }

    private struct Content: Codable {
        var standard: String?
        var profiles: [String: Profile]

        enum CodingKeys: String, CodingKey {
            case standard = "default"
            case profiles
        }
    }

    /// - Throws: `UsageError` if there is a file that cannot be read or is wrong.
    init(environment: [String: String]) throws {
        path = Self.directory(environment) + "/profiles.json"
        guard FileManager.default.fileExists(atPath: path) else {
            (standard, profiles) = (nil, [:])
            return
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw UsageError("\(path): the profiles cannot be read; check the permissions of the file")
        }
        do {
            let content = try JSONDecoder().decode(Content.self, from: data)
            (standard, profiles) = (content.standard, content.profiles)
        } catch let error as DecodingError {
            throw UsageError("\(path): \(Self.text(of: error)); correct the file, or remove it and use `patchbay profile add`")
        }
    }

    /// `$XDG_CONFIG_HOME/patchbay`, else `~/.config/patchbay` (XDG Base Directory Specification, which has relative paths ignored).
    private static func directory(_ environment: [String: String]) -> String {
        if let path = environment["XDG_CONFIG_HOME"], path.hasPrefix("/") { return path + "/patchbay" }
        return (environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()) + "/.config/patchbay"
    }

    /// Where the file is wrong, and how.
    private static func text(of error: DecodingError) -> String {
        func text(_ context: DecodingError.Context, _ description: String? = nil) -> String {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return (path.isEmpty ? "" : path + ": ") + (description ?? context.debugDescription)
        }
        return switch error {
        case .dataCorrupted(let context): text(context, context.codingPath.isEmpty ? "this is not valid JSON" : nil)
        case .keyNotFound(let key, let context): text(context, "`\(key.stringValue)` is missing")
        case .typeMismatch(_, let context), .valueNotFound(_, let context): text(context, "this has the wrong type")
        @unknown default: "the file is wrong"
        }
    }

    /// The profile of `--profile`, else of PATCHBAY_PROFILE, else the default one; nil if there is none of them.
    ///
    /// - Throws: `UsageError` if it does not exist.
    func choice(_ option: String?, _ environment: [String: String]) throws -> Choice? {
        let variable = environment["PATCHBAY_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
        if let option { return try profile(option, namedBy: "--profile \(option)") }
        if let variable { return try profile(variable, namedBy: "PATCHBAY_PROFILE=\(variable)") }
        return try standard.map { try profile($0, namedBy: "the default profile \($0)") }
    }

    /// - Parameter label: errors begin with it.
    /// - Throws: `UsageError` if there is no such profile.
    func profile(_ name: String, namedBy label: String) throws -> Choice {
        if let profile = profiles[name] { return Choice(name: name, profile: profile) }
        let names = profiles.keys.sorted()
        let hint =
            names.isEmpty
            ? "`patchbay profile add` adds one"
            : Suggestion.nearest(to: name, among: names).map { "did you mean \($0)?" }
                ?? "use one of \(names.joined(separator: ", ")), or add it with `patchbay profile add`"
        throw UsageError("\(label): there is no such profile; \(hint)")
    }

    /// Replaces the file in one step; only the user may read it.
    ///
    /// - Throws: `UsageError` if the file cannot be written.
    func write() throws {
        // A link remains one.
        let target = URL(filePath: path).resolvingSymlinksInPath()
        let temporary = "\(target.path).\(UUID().uuidString)"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(Content(standard: standard, profiles: profiles)) + Data("\n".utf8)
        do {
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw UsageError(String(cString: strerror(errno))) }
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try file.write(contentsOf: data)
            try file.synchronize()
            try file.close()
            guard rename(temporary, target.path) == 0 else { throw UsageError(String(cString: strerror(errno))) }
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            let reason = (error as? UsageError)?.description ?? error.localizedDescription
            throw UsageError("cannot write \(path): \(reason); set XDG_CONFIG_HOME to a directory that you may write to")
        }
    }
}
