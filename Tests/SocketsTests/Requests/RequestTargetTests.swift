import Sockets
import Testing

struct RequestTargetTests {
    private static func head(_ target: String) throws -> RequestHead {
        try RequestHead(Array("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    }

    @Test(arguments: [
        ("/", "/"), ("/healthz", "/healthz"), ("/a%20b", "/a b"), ("/a+b", "/a+b"), ("/%C3%a4%E2%82%AC", "/ä€"), ("/a%2Fb", "/a/b"),
        ("/%3F?", "/?"), ("//a//b/", "//a//b/"), ("/.a", "/.a"), ("/a./b", "/a./b"), ("/...", "/..."), ("/..a/b", "/..a/b"),
        ("/a/.b", "/a/.b"),
        ("/a%2e", "/a."), ("/%2525", "/%25"), ("/%01", "/\u{1}"), ("/a;b=c", "/a;b=c"), ("/\\..\\", "/\\..\\"), ("/?/../..", "/"),
    ])
    func pathsAreDecodedOnce(target: String, path: String) throws {
        #expect(try Self.head(target).path == path)
    }

    @Test func everyPairOfHexadecimalDigitsIsDecodedAndNoOther() throws {
        let digits = Array("0123456789abcdefABCDEF")
        for high in "234567" {
            for low in digits {
                let character = String(Unicode.Scalar(UInt8("\(high)\(low)", radix: 16)!))
                #expect(try Self.head("/a%\(high)\(low)b").path == "/a\(character)b")
                #expect(try Self.head("/?a=%\(high)\(low)").query["a"] == character)
            }
        }
        for byte in 0x21...0x7E as ClosedRange<UInt8> where byte != UInt8(ascii: "#") && byte != UInt8(ascii: "?") {
            let character = Character(Unicode.Scalar(byte))
            guard !digits.contains(character) else { continue }
            #expect(throws: RequestFault.encoding) { try Self.head("/a%2\(character)b") }
            #expect(throws: RequestFault.encoding) { try Self.head("/a%\(character)0b") }
        }
    }

    @Test(arguments: [
        ("a=b", "b"), ("a=b&a=c", "b"), ("x=1&a=b", "b"), ("a", ""), ("a=", ""), ("a&a=c", ""), ("a=b=c", "b=c"), ("%61=%62", "b"),
        ("a=b%26c%3Dd&e", "b&c=d"), ("a=b+c%20d%2B", "b c d+"), ("&&a=b&", "b"), ("a=%C3%A4", "ä"), ("a=b;c=d", "b;c=d"), ("a=/?", "/?"),
        ("a=?b", "?b"), ("=x&a=b", "b"),
    ])
    func ofSeveralValuesOfAQueryTheFirstCounts(query: String, value: String) throws {
        #expect(try Self.head("/?" + query).query["a"] == value)
    }

    @Test(arguments: ["", "?", "?b=c", "?A=b", "?=a", "?b=a&ab=c", "?b&", "?%2561=b"])
    func aNameThatAQueryDoesNotHaveHasNoValue(query: String) throws {
        #expect(try Self.head("/" + query).query["a"] == nil)
    }

    @Test func aNameMayHaveSpacesAndAnEmptyNameIsOne() throws {
        let query = try Self.head("/?a+b=c&=d").query
        #expect(query["a b"] == "c")
        #expect(query[""] == "d")
        #expect(Query()["a"] == nil)
    }

    @Test func valuesAreFoundInALongQuery() throws {
        let many = (0..<1_500).map { "k\($0)=\($0)" }.joined(separator: "&")
        let query = try Self.head("/?" + many).query
        #expect(query["k0"] == "0" && query["k1499"] == "1499" && query["k1500"] == nil)
    }
}
