import Testing
import Wire

struct JSONWritableTests {
    private struct Note: JSONWritable {
        var title: String
        var lines: [String] = []
        var answers: [Note] = []
        var isRead: Bool?

        func write(to json: inout JSONOutput) {
            json.writeObject { json in
                json.writeMember("title")
                json.write(title)
                json.writeMember("lines")
                json.writeArray(lines) { $0.write($1) }
                json.writeMember("answers")
                answers.write(to: &json)
                if let isRead {
                    json.writeMember("is_read")
                    json.write(isRead)
                }
            }
        }
    }

    private func text(_ value: some JSONWritable) -> String { String(decoding: JSON.text(value), as: UTF8.self) }

    @Test func nestedContainersAreSeparatedByCommas() {
        let note = Note(title: "a", lines: ["b", "[", "{"], answers: [Note(title: "c"), Note(title: "d", isRead: true)])
        #expect(
            text([note, Note(title: "")]) == """
                [{"title":"a","lines":["b","[","{"],"answers":[{"title":"c","lines":[],"answers":[]},\
                {"title":"d","lines":[],"answers":[],"is_read":true}]},{"title":"","lines":[],"answers":[]}]
                """)
    }

    @Test func nothingIsNull() {
        #expect(text(Note?.none) == "null" && text([Note]()) == "[]")
    }

    /// Text is scanned eight bytes at a time: each special byte must be found in every position, without false positives.
    @Test(arguments: [0x00, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7F, 0xE9, 0x1F600] as [UInt32])
    func bytesThatNeedAnEscapeAreFoundAtEveryOffset(scalar: UInt32) throws {
        let character = String(Character(try #require(Unicode.Scalar(scalar))))
        for position in 0...20 {
            for more in ["", character] {
                let words = String(repeating: "x", count: position) + character + more + String(repeating: "y", count: 20 - position)
                let written = JSON.text([Note(title: words)])
                let read = try JSONValue(parsing: written)
                guard case .array(let notes) = read else { return #expect(Bool(false), "no array") }
                #expect(notes.first?["title"] == .string(words))
                #expect(written.allSatisfy { $0 >= 0x20 })
            }
        }
    }
}
