import Foundation
import Store
import Testing

struct RecordIDTests {
    @Test func aNewIDIsARandomLowerCaseUUID() throws {
        let ids = (0..<100).map { _ in SessionID() }
        #expect(Set(ids).count == 100)
        for id in ids {
            let uuid = try #require(UUID(uuidString: id.text))
            #expect(uuid.uuidString.lowercased() == id.text && uuid.uuid.6 >> 4 == 4 && uuid.uuid.8 >> 6 == 2)
        }
    }

    @Test func parsingIsCaseInsensitive() throws {
        for _ in 0..<100 {
            let text = UUID().uuidString
            let id = try #require(SessionID(text: text))
            #expect(id.text == text.lowercased() && SessionID(text: id.text) == id)
        }
    }

    @Test(arguments: [
        "", "f81d4fae-7dec-41d0-a765-00a0c91e6bf", "f81d4fae-7dec-41d0-a765-00a0c91e6bf66", "f81d4fae7dec41d0a76500a0c91e6bf6",
        "g81d4fae-7dec-41d0-a765-00a0c91e6bf6", "f81d4fae-7dec-41d0-a7650-0a0c91e6bf6", "{81d4fae-7dec-41d0-a765-00a0c91e6bf}",
        "+81d4fae-7dec-41d0-a765-00a0c91e6bf6", " 81d4fae-7dec-41d0-a765-00a0c91e6bf6", "f81d4fae-7dec-41d0-a765-00a0c91e6b\u{E9}",
    ])
    func malformedIDsAreRefused(text: String) {
        #expect(SessionID(text: text) == nil)
    }
}
