import Testing
import Wire

@testable import YAMLSettings

/// YAML that is valid, and what is made of it or why it is refused.
struct YAMLValueTests {
    private func fault(_ yaml: String) -> String? {
        do {
            _ = try ConfigurationFile(yaml: yaml, name: "file")
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func value(_ yaml: String) throws -> YAMLValue {
        try #require(try YAMLValue.parse(yaml, source: "file"))
    }

    @Test(arguments: [
        ("keys:\n  my-app: {{ secret }}\n", "file: line 2: a map cannot be a key; if `{{ … }}` is a placeholder, fill it in first"),
        ("{{ port }}: 1", "file: line 1: a map cannot be a key"), ("port: 1\n? [a, b]\n: c\n", "file: line 2: a list cannot be a key"),
        ("keys: !!set {{a: b}}", "file: line 1: a map cannot be a key"),
    ])
    func aMapOrListAsKeyIsRefusedWithFileAndLine(yaml: String, says: String) throws {
        let said = try #require(fault(yaml))
        #expect(said.hasPrefix(says), "\(said)")
    }

    /// As in YAML 1.2.
    @Test(arguments: ["9:59:59:59:59:59:59:59:59:59:59:59:59", "1:30", "1:30.5"])
    func numbersInBase60AreTexts(number: String) throws {
        #expect(try value(number).text == number)
        #expect(fault("node: \(number)") == nil)
        #expect(try #require(fault("port: \(number)")).contains("must be a whole number"))
    }

    @Test func aliasesThatMeanAHugeDocumentAreRefused() throws {
        let levels = (1..<9).map { "a\($0): &a\($0) [\(Array(repeating: "*a\($0 - 1)", count: 10).joined(separator: ", "))]\n" }
        let said = try #require(fault("a0: &a0 x\n" + levels.joined()))
        #expect(said.contains("more than 100000 values; use fewer aliases"), "\(said)")
    }

    @Test func deepNestingIsRefused() throws {
        let said = try #require(fault("keys: " + String(repeating: "[", count: 500) + String(repeating: "]", count: 500)))
        #expect(said.contains("line 1: lists and maps are nested too deeply"), "\(said)")
    }

    @Test func mergedMapsGiveWayToOwnMembers() throws {
        let file = try ConfigurationFile(
            yaml: """
                assistants:
                  - &base {id: default, name: Robin, language: en}
                  - {<<: *base, id: second}
                  - {id: third, <<: [{name: Ann}, *base]}
                """, name: "file")
        let assistants = try file.assistants()
        #expect(assistants.map(\.id) == ["default", "second", "third"])
        #expect(assistants.map(\.name) == ["Robin", "Robin", "Ann"])
        #expect(fault("room: &room {auto_create: true}\n<<: {port: high}")?.contains("`port` must be a whole number") == true)
        #expect(fault("<<: 3")?.contains("line 1: `<<` merges a map or a list of maps") == true)
    }

    @Test(arguments: [
        ("port: 1\nport: 2", "file is not valid YAML: line 1: the key `port` is set twice"),
        ("1: a\n\"1\": b", "file: line 2: the key `1` is set twice"),
        ("port: [1\nkeys: {a: hunter2}", "file is not valid YAML: line 2, column 5: while parsing a flow sequence, did not find"),
        ("a: hunter2\n--- b", "file is not valid YAML: line 2, column 1: "), ("a: *b", "found undefined alias"),
        ("a: hunter2\u{7}", "file is not valid YAML: line 1: control characters are not allowed"),
    ])
    func parseErrorsNameTheLineAndNoContent(yaml: String, says: String) throws {
        let said = try #require(fault(yaml))
        #expect(said.contains(says) && !said.contains("hunter2") && !said.contains("\n"), "\(said)")
    }

    @Test func scalarsKeepTheirTextAndHaveAType() throws {
        func content(_ yaml: String) throws -> String { "\(try value(yaml).content)" }
        #expect(try content("yes") == "flag(true)" && value("yes").scalar == "yes")
        #expect(try content("0x1F") == "integer(31)" && value("0x1F").scalar == "0x1F")
        #expect(try content("\"7\"") == "text" && content("~") == "empty" && content("1.5") == "number(1.5)")
        #expect(try content("2026-01-01") == "other" && content("99999999999999999999") == "text")
        #expect(try YAMLValue.parse("# nothing\n", source: "file") == nil)
    }
}
