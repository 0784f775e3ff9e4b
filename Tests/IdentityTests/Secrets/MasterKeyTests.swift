import Foundation
import Identity
import Testing

struct MasterKeyTests {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path

    @Test func keysAreParsedInEveryEncoding() throws {
        let bytes = (0..<32).map { UInt8($0 * 8 + 7) }
        let key = MasterKey(try #require(SealingKey(bytes: bytes)))
        let padded = Data(bytes).base64EncodedString()
        for text in [bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(), padded + "\n", key.text.revealedText] {
            #expect(MasterKey(text: SecretText(text))?.key.revealedBytes == bytes)
        }
    }

    @Test(arguments: [
        "", "secret", String(repeating: "g", count: 64), String(repeating: "A", count: 42), String(repeating: "A", count: 86),
    ])
    func invalidKeysAreRejected(text: String) {
        #expect(MasterKey(text: SecretText(text)) == nil)
    }

    @Test func idsIdentifyKeysWithoutRevealingThem() {
        let (one, other) = (MasterKey(), MasterKey())
        #expect(one.id != other.id && one.id.count == 16)
        #expect(MasterKey(one.key).id == one.id)
        let hexadecimal = one.key.revealedBytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(!hexadecimal.contains(one.id))
    }

    @Test func newKeyFilesArePrivateAndNeverOverwrite() throws {
        let made = try MasterKey.make(file: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try MasterKey(file: path).id == made.id)
        #expect(throws: MasterKeyError.unwritable(path: path, errno: EEXIST)) { try MasterKey.make(file: path) }
    }

    @Test func missingOrInvalidKeyFilesAreRejected() throws {
        #expect(throws: MasterKeyError.unreadable(path: path, errno: ENOENT)) { try MasterKey(file: path) }
        try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: MasterKeyError.notAKey(path: path)) { try MasterKey(file: path) }
    }
}
