import Foundation
import Gateway
import HTTPServer
import Testing

/// An invalid request body and the expected response.
struct BadBody: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    /// Expected in the response's message.
    let messagePart: String
    var status = 400
    var code = "invalid_body"
    var type = "application/json"

    init(_ story: String, _ body: String, _ messagePart: String) {
        self.init(story, Array(body.utf8), messagePart)
    }

    init(_ story: String, _ bytes: [UInt8], _ messagePart: String) {
        testDescription = story
        self.bytes = bytes
        self.messagePart = messagePart
    }

    init(_ story: String, type: String) {
        self.init(story, #"{"title":"ball"}"#, "application/json")
        status = 415
        code = "unsupported_media_type"
        self.type = type
    }

    static let all: [BadBody] = [
        BadBody("nothing", "", "expected a value"),
        BadBody("no JSON", "title=ball", "invalid JSON"),
        BadBody("two values", #"{"title":"ball"}{}"#, "unexpected text after the value"),
        BadBody("a comma too many", #"{"title":"ball",}"#, "invalid JSON"),
        BadBody("NaN", #"{"title":"ball","weight":NaN}"#, "expected a value"),
        BadBody("infinity", #"{"title":"ball","weight":1e999}"#, "too large"),
        BadBody("invalid UTF-8", Array(#"{"title":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8), "UTF-8"),
        BadBody("a byte order mark", [0xEF, 0xBB, 0xBF] + Array(#"{"title":"ball"}"#.utf8), "invalid JSON"),
        BadBody("half a surrogate pair", #"{"title":"\ud800"}"#, "invalid JSON"),
        BadBody("65 arrays deep", String(repeating: "[", count: 65) + String(repeating: "]", count: 65), "too deep"),
        BadBody("100,000 arrays deep", String(repeating: "[", count: 100_000), "too deep"),
        BadBody("a name twice", #"{"title":"ball","title":"doll"}"#, "repeats the name"),
        BadBody("a name twice, once escaped", #"{"title":"ball","\u0074itle":"doll"}"#, "repeats the name"),
        BadBody("an array", "[]", "must be an object"),
        BadBody("null", "null", "must be an object"),
        BadBody("nothing of what is needed", "{}", "title is missing"),
        BadBody("a field too many", #"{"title":"ball","titel":"doll"}"#, "titel is no field here"),
        BadBody("a field in the wrong case", #"{"Title":"ball"}"#, "Title is no field here"),
        BadBody("a number for a string", #"{"title":7}"#, "title must be a string"),
        BadBody("null for a string", #"{"title":null}"#, "title must be a string"),
        BadBody("an empty string", #"{"title":""}"#, "1 to"),
        BadBody("a string for a number", #"{"title":"ball","count":"3"}"#, "count must be an integer"),
        BadBody("a fraction for an integer", #"{"title":"ball","count":1.5}"#, "count must be an integer"),
        BadBody("an integer with a point", #"{"title":"ball","count":5.0}"#, "count must be an integer"),
        BadBody("an integer with an exponent", #"{"title":"ball","count":1e1}"#, "count must be an integer"),
        BadBody("a negative number", #"{"title":"ball","count":-1}"#, "count must be 1 to 99"),
        BadBody("a number of 400 digits", #"{"title":"ball","count":\#(String(repeating: "9", count: 400))}"#, "too large"),
        BadBody("2 to the 63", #"{"title":"ball","count":9223372036854775808}"#, "count must be an integer"),
        BadBody("a word that is no choice", #"{"title":"ball","kind":"car"}"#, "toy, book"),
        BadBody("the year 10,000", #"{"title":"ball","due":"10000-01-01T00:00:00Z"}"#, "date-time"),
        BadBody("the 30th of February", #"{"title":"ball","due":"2026-02-30T00:00:00Z"}"#, "date-time"),
        BadBody("a day without a time", #"{"title":"ball","due":"2026-02-20 at noon  "}"#, "date-time"),
        BadBody("an id that goes up", #"{"title":"ball","owner":"../../../../../../../../../etc/passwd.."}"#, "owner must"),
        BadBody("too many elements", #"{"title":"ball","tags":["a","b","c","d"]}"#, "at most 3"),
        BadBody("a bad element", #"{"title":"ball","tags":["a",2]}"#, "tags[1] must be a string"),
        BadBody("a bad field inside", #"{"title":"ball","extra":{"is_urgent":"yes"}}"#, "extra.is_urgent must be true or false"),
        BadBody("a form", type: "application/x-www-form-urlencoded"),
        BadBody("plain text", type: "text/plain"),
        BadBody("something that begins alike", type: "application/jsonp"),
    ]
}

@Suite("A JSON body is refused", .onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct BadBodyTests {
    private static let gateway = Result { try TestGateway(routes: WishList.routes()) }

    @Test("if it is", arguments: BadBody.all)
    func refused(_ bad: BadBody) throws {
        let connection = try HTTPConnection(try Self.gateway.get())
        let answer = try #require(try connection.answer(to: .json("POST", "/v1/lists/a/wishes", bad.bytes, type: bad.type)))
        #expect(answer.status == bad.status)
        #expect(answer.code == bad.code)
        #expect((answer.json?["message"] as? String)?.contains(bad.messagePart) == true, "\(answer.text)")
        // The connection is still usable.
        let good = HTTPAsk.json("POST", "/v1/lists/a/wishes", #"{"title":"ball"}"#, type: "application/json; charset=utf-8")
        #expect(try connection.answer(to: good)?.status == 201)
    }

    @Test(
        "but not for the content of its strings",
        arguments: ["'; DROP TABLE wishes; --", "../../etc/passwd", "\u{0}", "\u{202E}", "😀", "\\\"<script>"])
    func anyText(text: String) throws {
        let body = try JSONSerialization.data(withJSONObject: ["title": text])
        let answer = try HTTPConnection(try Self.gateway.get()).answer(to: .json("POST", "/v1/lists/a/wishes", Array(body)))
        #expect((answer?.json?["wish"] as? [String: Any])?["title"] as? String == text)
    }

    @Test(
        "like an invalid query",
        arguments: [
            "limit=0", "limit=1001", "limit=many", "limit=1.5", "limit=5.0", "limit=1e1", "limit=%205", "limit=05", "limit=%2B5", "limit=",
            "kind=car", "limit=99999999999999999999",
        ])
    func query(_ query: String) throws {
        let answer = try #require(try HTTPConnection(try Self.gateway.get()).answer(to: HTTPAsk(path: "/v1/lists/a/wishes?\(query)")))
        #expect(answer.status == 400)
        #expect(answer.code == "invalid_query")
    }

    @Test("and an invalid path parameter is answered with 404")
    func path() throws {
        let path = "/v1/lists/\(String(repeating: "a", count: 21))/wishes"
        #expect(try HTTPConnection(try Self.gateway.get()).answer(to: HTTPAsk(path: path))?.status == 404)
    }
}
