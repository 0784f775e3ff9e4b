import Foundation
import Testing

@testable import patchbay

/// `profiles.json`: its mode, how it is replaced, and what is said about a wrong one.
struct ProfileFileTests {
    private let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        environment = ["XDG_CONFIG_HOME": folder.file("config").path, "HOME": "/home/ann"]
    }

    private var path: String { folder.file("config/patchbay/profiles.json").path }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func add(_ name: String) throws {
        var file = try ProfileFile(environment: environment)
        file.profiles[name] = Profile(url: "wss://a.example", apiKey: "key", secret: .variable("SECRET"))
        try file.write()
    }

    private func write(_ text: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder.file("config/patchbay").path, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    @Test func profilesAreReadAsTheyWereWritten() throws {
        var file = try ProfileFile(environment: environment)
        #expect(file.path == path && file.profiles.isEmpty && file.standard == nil)
        file.profiles["a"] = Profile(url: "wss://a.example", apiKey: "key", secret: .variable("SECRET"))
        file.profiles["b"] = Profile(url: "https://b.example:1/x", apiKey: "key", secret: .file("/run/secret"), ca: "/etc/ca.pem")
        file.standard = "b"
        try file.write()
        let read = try ProfileFile(environment: environment)
        #expect(read.profiles == file.profiles && read.standard == "b")
        #expect(
            try String(contentsOfFile: path, encoding: .utf8).hasPrefix(
                """
                {
                  "default" : "b",
                  "profiles" : {
                    "a" : {
                      "api_key" : "key",
                      "api_secret_env" : "SECRET",
                      "url" : "wss://a.example"
                    },
                """))
    }

    @Test func theFileFollowsTheEnvironment() throws {
        #expect(try ProfileFile(environment: ["HOME": "/home/ann"]).path == "/home/ann/.config/patchbay/profiles.json")
        #expect(
            try ProfileFile(environment: ["XDG_CONFIG_HOME": "relative", "HOME": "/home/ann"]).path
                == "/home/ann/.config/patchbay/profiles.json")
    }

    @Test func onlyTheUserMayReadTheFile() throws {
        try add("a")
        #expect(try mode(path) == 0o600)
        #expect(try mode(folder.file("config/patchbay").path) == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try add("b")
        #expect(try mode(path) == 0o600, "also where it was readable before")
    }

    /// A reader with the old file open still reads all of it; the path then refers to the new file.
    @Test func theFileIsReplacedInOneStep() throws {
        try add("a")
        let old = try #require(FileHandle(forReadingAtPath: path))
        try add("b")
        #expect(!String(decoding: try old.readToEnd() ?? Data(), as: UTF8.self).contains("\"b\""))
        #expect(try ProfileFile(environment: environment).profiles.keys.sorted() == ["a", "b"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("config/patchbay").path) == ["profiles.json"])
    }

    @Test func aLinkToTheFileRemainsALink() throws {
        try write("")
        let target = folder.file("dotfiles.json").path
        try FileManager.default.removeItem(atPath: path)
        try Data(#"{"profiles": {}}"#.utf8).write(to: URL(filePath: target))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        try add("a")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
        #expect(try String(contentsOfFile: target, encoding: .utf8).contains("\"a\""))
    }

    @Test func aFileThatCannotBeWrittenIsAnErrorWithTheRemedy() throws {
        try Data().write(to: folder.file("config"))
        let error = try #require(throws: UsageError.self) { try add("a") }
        #expect(error.description.hasPrefix("cannot write \(path): "), "\(error)")
        #expect(error.description.hasSuffix("; set XDG_CONFIG_HOME to a directory that you may write to"), "\(error)")
    }

    @Test(arguments: [
        ("", "this is not valid JSON"), ("{", "this is not valid JSON"), ("[]", "this has the wrong type"), ("{}", "`profiles` is missing"),
        (#"{"profiles": {"a": {"url": 1}}}"#, "profiles.a.url: this has the wrong type"),
        (#"{"profiles": {"a": {}}}"#, "profiles.a: `url` is missing"),
        (#"{"profiles": {"a": {"url": "ws://a"}}}"#, "profiles.a: \"ws://a\" is not encrypted"),
        (#"{"profiles": {"a": {"url": "wss://a"}}}"#, "profiles.a: `api_key` is missing"),
        (
            #"{"profiles": {"a": {"url": "wss://a", "api_key": "k"}}}"#,
            "profiles.a: it needs either `api_secret_env` or `api_secret_file`"
        ),
        (
            #"{"profiles": {"a": {"url": "wss://a", "api_key": "k", "api_secret": "hunter2"}}}"#,
            "profiles.a: there is no field \"api_secret\"; use api_key, api_secret_env, api_secret_file, ca, url"
        ),
    ])
    func aWrongFileIsAnErrorThatNamesThePlaceAndNoValueOfASecret(text: String, says: String) throws {
        try write(text)
        let error = try #require(throws: UsageError.self) { try ProfileFile(environment: environment) }
        #expect(error.description.hasPrefix("\(path): \(says)"), "\(error)")
        #expect(error.description.hasSuffix("; correct the file, or remove it and use `patchbay profile add`"))
        #expect(!error.description.contains("hunter2"))
    }
}
