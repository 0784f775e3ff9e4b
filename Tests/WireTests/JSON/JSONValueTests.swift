import Testing
import Wire

struct JSONValueTests {
    @Test func arbitraryJSONSurvivesARoundTrip() throws {
        let text = #"{"b":[1,-2.5,"ä\n",true,null,{}],"a":{"":[]},"big":9223372036854775807}"#
        let value = try JSONValue(parsing: Array(text.utf8))
        #expect(value["big"] == .integer(.max))
        #expect(String(decoding: try JSON.encode(value, names: .asDeclared), as: UTF8.self) == text)
    }

    @Test func wholeNumbersAreIntegersInEverySpelling() throws {
        #expect(try JSONValue(parsing: Array("[1.0,1e2,1.5]".utf8)) == [.integer(1), .integer(100), .number(1.5)])
        // The nearest `Double` has no fraction.
        #expect(try JSONValue(parsing: Array("[191111111111111111.11111112]".utf8)) == [.integer(191_111_111_111_111_104)])
    }

    @Test func onlyPlainIntegersAreIntegersIfThatIsAsked() throws {
        let value = try JSONValue(parsing: Array("[1,-2,1.0,1e2,1E2]".utf8), plainIntegers: true)
        #expect(value == [.integer(1), .integer(-2), .number(1), .number(100), .number(100)])
    }

    @Test(arguments: [#"{"a":1,"a":2}"#, #"[{"x":{"a":1,"\u0061":2}}]"#, "1e999", "1e-999", "[[[]]]", ""])
    func itIsStricterThanDecoding(text: String) {
        #expect(throws: DecodingError.self) { try JSONValue(parsing: Array(text.utf8), depthMax: 2) }
    }

    @Test func namesStayAsTheyAreWhenWritten() throws {
        let value: JSONValue = ["operationId": "x", "$ref": [1, false]]
        #expect(String(decoding: try JSON.encode(value, names: .asDeclared), as: UTF8.self) == #"{"operationId":"x","$ref":[1,false]}"#)
    }
}
