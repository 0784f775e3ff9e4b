import Gateway
import HTTPServer
import Testing
import Wire

struct SchemaTests {
    @Test(arguments: [
        ("2026-11-21T13:16:56Z", true), ("2026-11-21T13:16:56.123Z", true), ("2026-11-21T13:16:56+01:00", true),
        ("2024-02-29T00:00:00Z", true), ("2025-02-29T00:00:00Z", false), ("0001-01-01T00:00:00Z", true),
        ("0000-01-01T00:00:00Z", false), ("9999-12-31T23:59:59Z", true), ("2026-11-21T24:00:00Z", false),
        ("2026-13-01T00:00:00Z", false), ("2026-11-21 13:16:56Z", false), ("2026-11-21T13:16:56", false),
        ("२०२६-11-21T13:16:56Z", false),
    ])
    func times(text: String, isTime: Bool) {
        #expect((Schema.time.fault(in: .string(text)) == nil) == isTime)
    }

    @Test(arguments: [
        ("a@b.example", true), ("ä@b", true), ("a b@c", false), ("a@", false), ("@b", false), ("a@b@c", false), ("a\n@b", false),
        ("no address", false), ("a\u{A0}@b", false), ("<m@x.org>", false), ("m@x.org>", false), ("a,b@x.org", false), ("a@x.org;b", false),
        ("a@[127.0.0.1]", false), ("\"a\"@x.org", false), (".a@x.org", false), ("a..b@x.org", false), ("a.@x.org", false),
        ("a@.org", false),
        ("a@x..org", false), ("a@x.org.", false), ("a@-x.org", false), ("a@x_y.org", false), ("a\u{85}@x.org", false),
        ("first.last+tag/x=y_z~'@mail.x-y.example", true), ("grå@blåbær.example", true), ("用户@例子.example", true),
        (String(repeating: "a", count: 64) + "@x.org", true), (String(repeating: "a", count: 65) + "@x.org", false),
        ("a@" + String(repeating: "x", count: 64) + ".org", false),
    ])
    func emails(text: String, isEmail: Bool) {
        #expect((Schema.email.fault(in: .string(text)) == nil) == isEmail)
    }

    @Test func charactersAreCountedAsJSONSchemaDoes() {
        // One grapheme, two scalars.
        #expect(Schema.text(2...2).fault(in: .string("e\u{301}")) == nil)
    }

    @Test func nullRequiresANullableSchema() {
        #expect(Schema.nullable(.uuid).fault(in: .null) == nil)
        #expect(Schema.nullable(.uuid).fault(in: "x") != nil)
        #expect(Schema.uuid.fault(in: .null) != nil)
    }

    @Test func faultsNameTheirLocation() {
        let schema = Schema.object([.required("list", .array(of: .object([.required("on", .boolean)])))])
        #expect(schema.fault(in: ["list": [["on": true], ["on": 1]]]) == "list[1].on must be true or false")
        #expect(schema.fault(in: ["list": [["off": true]]]) == "list[0].off is no field here")
        #expect(schema.fault(in: [:]) == "list is missing")
    }

    @Test func longNamesAreTruncatedInFaults() throws {
        let fault = try #require(Schema.empty.fault(in: .object([.init(String(repeating: "x", count: 10_000), true)])))
        #expect(fault.utf8.count < 100)
    }

    @Test func arrayLengthsAreChecked() {
        let schema = Schema.array(of: .boolean, count: 1...2)
        #expect(schema.fault(in: [true]) == nil)
        #expect(schema.fault(in: []) == "it must have at least 1 elements")
        #expect(schema.fault(in: [true, true, true]) == "it must have at most 2 elements")
        #expect(schema.inOpenAPI == ["type": "array", "items": ["type": "boolean"], "minItems": 1, "maxItems": 2])
    }

    @Test func theSchemaIsWrittenAsJSONSchema() {
        let schema = Schema.object([.required("id", .uuid), .optional("note", .nullable(.text(0...10))), .optional("kind", .choice(["a"]))])
        #expect(
            schema.inOpenAPI == [
                "type": "object",
                "properties": [
                    "id": ["type": "string", "format": "uuid", "minLength": 36, "maxLength": 36],
                    "note": ["anyOf": [["type": "string", "maxLength": 10], ["type": "null"]]],
                    "kind": ["type": "string", "enum": ["a"]],
                ],
                "required": ["id"], "additionalProperties": false,
            ])
    }
}
