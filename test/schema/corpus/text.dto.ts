import {
  Contains,
  IsAlpha,
  IsAlphanumeric,
  IsAscii,
  IsBase32,
  IsBase58,
  IsBase64,
  IsBIC,
  IsBooleanString,
  IsBtcAddress,
  IsByteLength,
  IsCreditCard,
  IsCurrency,
  IsDataURI,
  IsDateString,
  IsDecimal,
  IsEAN,
  IsEmail,
  IsEthereumAddress,
  IsFirebasePushId,
  IsFQDN,
  IsFullWidth,
  IsHalfWidth,
  IsHash,
  IsHexadecimal,
  IsHexColor,
  IsHSL,
  IsIBAN,
  IsIdentityCard,
  IsIP,
  IsISBN,
  IsISIN,
  IsISO31661Alpha2,
  IsISO31661Alpha3,
  IsISO31661Numeric,
  IsISO4217CurrencyCode,
  IsISO6391,
  IsISO8601,
  IsISRC,
  IsISSN,
  IsJSON,
  IsJWT,
  IsLatitude,
  IsLatLong,
  IsLocale,
  IsLongitude,
  IsLowercase,
  IsMACAddress,
  IsMagnetURI,
  IsMilitaryTime,
  IsMimeType,
  IsMobilePhone,
  IsMongoId,
  IsMultibyte,
  IsNotEmpty,
  IsNumberString,
  IsOctal,
  IsOptional,
  IsPassportNumber,
  IsPhoneNumber,
  IsPort,
  IsPostalCode,
  IsRFC3339,
  IsRgbColor,
  IsSemVer,
  IsString,
  IsStrongPassword,
  IsSurrogatePair,
  IsTaxId,
  IsTimeZone,
  IsUppercase,
  IsUrl,
  IsUUID,
  IsVariableWidth,
  Length,
  Matches,
  MaxLength,
  MinLength,
  NotContains,
} from 'class-validator';
import { property, whole, type CorpusEntry } from './entry.js';

export class StringDto {
  @IsString()
  title: string;
}

export class LengthDto {
  @Length(2, 5)
  code: string;
}

export class LengthFromDto {
  @Length(3)
  code: string;
}

export class MinLengthDto {
  @MinLength(5)
  reason: string;
}

export class MaxLengthDto {
  @MaxLength(4)
  short: string;
}

export class NonEmptyTextDto {
  @IsNotEmpty()
  @IsString()
  title: string;
}

export class ByteLengthDto {
  @IsByteLength(2, 6)
  key: string;
}

export class MatchesDto {
  @Matches(/^[A-Z]{3}-\d+$/)
  ticket: string;
}

export class MatchesUnicodeDto {
  @Matches(/^\p{Lu}/u)
  name: string;
}

export class MatchesGlobalDto {
  @Matches(/ab/g)
  name: string;
}

export class MatchesTextDto {
  @Matches('^a+$')
  letters: string;
}

export class MatchesWithFlagDto {
  @Matches(/^yes$/i)
  answer: string;
}

export class MatchesTextWithFlagDto {
  @Matches('^yes$', 'i')
  answer: string;
}

export class MatchesLegacySyntaxDto {
  @Matches(/^[\w-.]+$/)
  slug: string;
}

export class MatchesTwiceDto {
  @Matches(/^t/)
  @Matches(/t$/)
  word: string;
}

export class MatchesLinesDto {
  @Matches(/^b$/m)
  line: string;
}

export class MatchesDotDto {
  @Matches(/^.$/)
  character: string;
}

export class ContainsDto {
  @Contains('e.t')
  text: string;
}

export class ContainsNothingDto {
  @Contains('')
  text: string;
}

export class NotContainsDto {
  @NotContains('secret')
  text: string;
}

export class AlphaDto {
  @IsAlpha()
  letters: string;
}

export class AlphaGermanDto {
  @IsAlpha('de-DE')
  letters: string;
}

export class AlphanumericDto {
  @IsAlphanumeric()
  code: string;
}

export class AsciiDto {
  @IsAscii()
  text: string;
}

export class Base32Dto {
  @IsBase32()
  secret: string;
}

export class Base58Dto {
  @IsBase58()
  key: string;
}

export class Base64Dto {
  @IsBase64()
  bytes: string;
}

export class Base64UrlDto {
  @IsBase64({ urlSafe: true })
  bytes: string;
}

export class BicDto {
  @IsBIC()
  bank: string;
}

export class BooleanStringDto {
  @IsBooleanString()
  flag: string;
}

export class BtcAddressDto {
  @IsBtcAddress()
  wallet: string;
}

export class CreditCardDto {
  @IsCreditCard()
  card: string;
}

export class CurrencyDto {
  @IsCurrency()
  price: string;
}

export class CurrencyEuroDto {
  @IsCurrency({ symbol: '€', require_symbol: true })
  price: string;
}

export class DataUriDto {
  @IsDataURI()
  picture: string;
}

export class DateStringDto {
  @IsDateString()
  from: string;
}

export class DateStringStrictDto {
  @IsDateString({ strict: true, strictSeparator: true })
  from: string;
}

export class DecimalDto {
  @IsDecimal()
  amount: string;
}

export class DecimalPlacesDto {
  @IsDecimal({ decimal_digits: '2', force_decimal: true })
  amount: string;
}

export class EanDto {
  @IsEAN()
  product: string;
}

export class EmailDto {
  @IsEmail()
  email: string;
}

export class EmailWithNameDto {
  @IsEmail({ allow_display_name: true })
  email: string;
}

export class EthereumAddressDto {
  @IsEthereumAddress()
  wallet: string;
}

export class FirebasePushIdDto {
  @IsFirebasePushId()
  device: string;
}

export class FqdnDto {
  @IsFQDN()
  host: string;
}

export class FullWidthDto {
  @IsFullWidth()
  text: string;
}

export class HalfWidthDto {
  @IsHalfWidth()
  text: string;
}

export class VariableWidthDto {
  @IsVariableWidth()
  text: string;
}

export class MultibyteDto {
  @IsMultibyte()
  text: string;
}

export class SurrogatePairDto {
  @IsSurrogatePair()
  text: string;
}

export class HashDto {
  @IsHash('md5')
  digest: string;
}

export class HexadecimalDto {
  @IsHexadecimal()
  hex: string;
}

export class OctalDto {
  @IsOctal()
  mode: string;
}

export class HexColorDto {
  @IsHexColor()
  color: string;
}

export class HslDto {
  @IsHSL()
  color: string;
}

export class RgbColorDto {
  @IsRgbColor()
  color: string;
}

export class RgbColorWithoutPercentDto {
  @IsRgbColor(false)
  color: string;
}

export class IbanDto {
  @IsIBAN()
  account: string;
}

export class IdentityCardDto {
  @IsIdentityCard('ES')
  card: string;
}

export class PassportNumberDto {
  @IsPassportNumber('DE')
  passport: string;
}

export class TaxIdDto {
  @IsTaxId('en-US')
  tax: string;
}

export class IpDto {
  @IsIP()
  address: string;
}

export class Ipv4Dto {
  @IsIP(4)
  address: string;
}

export class Ipv6Dto {
  @IsIP('6')
  address: string;
}

export class IsbnDto {
  @IsISBN()
  book: string;
}

export class Isbn13Dto {
  @IsISBN('13')
  book: string;
}

export class IsinDto {
  @IsISIN()
  paper: string;
}

export class IsrcDto {
  @IsISRC()
  recording: string;
}

export class IssnDto {
  @IsISSN()
  journal: string;
}

export class IssnStrictDto {
  @IsISSN({ case_sensitive: true, require_hyphen: true })
  journal: string;
}

export class CountryAlpha2Dto {
  @IsISO31661Alpha2()
  country: string;
}

export class CountryAlpha3Dto {
  @IsISO31661Alpha3()
  country: string;
}

export class CountryNumericDto {
  @IsISO31661Numeric()
  country: string;
}

export class CurrencyCodeDto {
  @IsISO4217CurrencyCode()
  currency: string;
}

export class LanguageDto {
  @IsISO6391()
  language: string;
}

export class LocaleDto {
  @IsLocale()
  locale: string;
}

export class Iso8601Dto {
  @IsISO8601()
  at: string;
}

export class Iso8601StrictDto {
  @IsISO8601({ strict: true })
  at: string;
}

export class Rfc3339Dto {
  @IsRFC3339()
  at: string;
}

export class MilitaryTimeDto {
  @IsMilitaryTime()
  time: string;
}

export class TimeZoneDto {
  @IsTimeZone()
  zone: string;
}

export class JsonTextDto {
  @IsJSON()
  payload: string;
}

export class JwtDto {
  @IsJWT()
  token: string;
}

export class LatLongDto {
  @IsLatLong()
  position: string;
}

export class LatitudeDto {
  @IsLatitude()
  latitude: number;
}

export class LatitudeTextDto {
  @IsLatitude()
  latitude: string;
}

export class LongitudeDto {
  @IsLongitude()
  longitude: number;
}

export class LowercaseDto {
  @IsLowercase()
  name: string;
}

export class UppercaseDto {
  @IsUppercase()
  name: string;
}

export class MacAddressDto {
  @IsMACAddress()
  device: string;
}

export class MacAddressBareDto {
  @IsMACAddress({ no_separators: true })
  device: string;
}

export class MagnetUriDto {
  @IsMagnetURI()
  link: string;
}

export class MimeTypeDto {
  @IsMimeType()
  type: string;
}

export class MobilePhoneDto {
  @IsMobilePhone('de-DE')
  phone: string;
}

export class PhoneNumberDto {
  @IsPhoneNumber()
  phone: string;
}

export class PhoneNumberOfRegionDto {
  @IsPhoneNumber('CH')
  phone: string;
}

export class MongoIdDto {
  @IsMongoId()
  id: string;
}

export class NumberStringDto {
  @IsNumberString()
  digits: string;
}

export class NumberStringWithoutSymbolsDto {
  @IsNumberString({ no_symbols: true })
  digits: string;
}

export class PortDto {
  @IsPort()
  port: string;
}

export class PostalCodeDto {
  @IsPostalCode('DE')
  code: string;
}

export class PostalCodeAnywhereDto {
  @IsPostalCode('any')
  code: string;
}

export class SemVerDto {
  @IsSemVer()
  version: string;
}

export class StrongPasswordDto {
  @IsStrongPassword({ minLength: 10, minSymbols: 0 })
  password: string;
}

export class UrlDto {
  @IsUrl()
  link: string;
}

export class UrlWithProtocolDto {
  @IsUrl({ require_protocol: true, protocols: ['https'] })
  link: string;
}

export class UuidDto {
  @IsUUID()
  id: string;
}

export class Uuid4Dto {
  @IsUUID('4')
  id: string;
}

export class ManyTextRulesDto {
  @IsString()
  @MinLength(2)
  @MaxLength(10)
  @Matches(/^[a-z]/)
  @IsLowercase()
  handle: string;

  @IsOptional()
  @IsString()
  @Length(1, 3)
  short?: string;
}

const UUID_1 = '6f1c0b1e-8a57-1c5e-9f6b-0d2f4a3b1c2d';
const UUID_4 = '6f1c0b1e-8a57-4c5e-9f6b-0d2f4a3b1c2d';

export const entries: readonly CorpusEntry[] = [
  property(StringDto, 'title', ['text', ''], [1, undefined, null]),
  property(LengthDto, 'code', ['ab', '😀😀😀😀😀'], ['a', '😀😀😀😀😀😀'], {
    pool: ['☺️☺️☺️', '☺️☺️☺️☺️☺️'],
  }),
  property(LengthFromDto, 'code', ['abc'], ['ab'], { pool: ['☺️', '☺️☺️'] }),
  property(MinLengthDto, 'reason', ['12345'], ['1234'], { pool: ['☺️☺️☺️'] }),
  property(MaxLengthDto, 'short', ['', '1234'], ['12345'], { pool: ['☺️☺️☺️'] }),
  property(NonEmptyTextDto, 'title', ['a', ' '], ['', null, undefined, 0]),
  property(ByteLengthDto, 'key', ['ab', 'äöü'], ['a', 'äöüß', 3]),
  property(MatchesDto, 'ticket', ['ABC-1'], ['abc-1', 'ABC-1\n']),
  property(MatchesUnicodeDto, 'name', ['Äh'], ['äh']),
  property(MatchesGlobalDto, 'name', ['xaby'], ['ba']),
  property(MatchesTextDto, 'letters', ['aaa'], ['b', '']),
  property(MatchesWithFlagDto, 'answer', ['YES', 'yes'], ['no']),
  property(MatchesTextWithFlagDto, 'answer', ['YES', 'yes'], ['no']),
  property(MatchesLegacySyntaxDto, 'slug', ['a-b.c'], ['a b']),
  property(MatchesTwiceDto, 'word', ['tot', 't'], ['to', 'at']),
  property(MatchesLinesDto, 'line', ['a\nb'], ['ab']),
  property(MatchesDotDto, 'character', ['a'], ['ab'], { pool: ['😀', '\ud83d', '\n'] }),
  property(ContainsDto, 'text', ['the e.t. film'], ['eat']),
  property(ContainsNothingDto, 'text', ['text'], ['', 1]),
  property(NotContainsDto, 'text', ['public', ''], ['a secret', 1]),
  property(AlphaDto, 'letters', ['abc'], ['abc1', '', 'ä']),
  property(AlphaGermanDto, 'letters', ['äöü'], ['é']),
  property(AlphanumericDto, 'code', ['abc1'], ['abc-1']),
  property(AsciiDto, 'text', ['text'], ['ä']),
  property(Base32Dto, 'secret', ['ZG5TK2NP'], ['zg5t']),
  property(Base58Dto, 'key', ['4Fcj4ooZqEiiyH8uBLQwsv'], ['0OIl']),
  property(Base64Dto, 'bytes', ['aGVsbG8='], ['aGVsbG8', 'hello!']),
  property(Base64UrlDto, 'bytes', ['aGVsbG8'], ['aGVs+G8']),
  property(BicDto, 'bank', ['DEUTDEFF'], ['DEUT']),
  property(BooleanStringDto, 'flag', ['true', '0'], [true, 'yes']),
  property(
    BtcAddressDto,
    'wallet',
    ['1MUz4VMYui5qY1mxUiG8BQ1Luv6tqkvaiL'],
    ['4J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
  ),
  property(CreditCardDto, 'card', ['4111111111111111'], ['4111111111111112']),
  property(CurrencyDto, 'price', ['$10.50', '10.50'], ['ten', 10]),
  property(CurrencyEuroDto, 'price', ['€10.50'], ['10.50']),
  property(DataUriDto, 'picture', ['data:image/png;base64,iVBORw0KGgo='], ['image.png']),
  property(
    DateStringDto,
    'from',
    ['2024-01-01', '2024-01-01T10:00:00Z', '2024'],
    ['yesterday', 1704067200000],
  ),
  property(DateStringStrictDto, 'from', ['2024-02-29T10:00:00Z'], ['2023-02-29T10:00:00Z']),
  property(DecimalDto, 'amount', ['1.5', '-1'], [1.5, 'one']),
  property(DecimalPlacesDto, 'amount', ['1.50'], ['1.5', '1']),
  property(EanDto, 'product', ['5901234123457'], ['5901234123458']),
  property(EmailDto, 'email', ['mail@example.com'], ['mail', '', 1]),
  property(EmailWithNameDto, 'email', ['Ann <ann@example.com>', 'ann@example.com'], ['ann']),
  property(EthereumAddressDto, 'wallet', ['0x0000000000000000000000000000000000000001'], ['0x1']),
  property(FirebasePushIdDto, 'device', ['-M-Jh_1KAH5wcmqvRQVd'], ['short']),
  property(FqdnDto, 'host', ['example.com'], ['localhost']),
  property(FullWidthDto, 'text', ['ａｂｃ'], ['abc']),
  property(HalfWidthDto, 'text', ['abc'], ['あいう']),
  property(VariableWidthDto, 'text', ['aあ'], ['a', 'あ']),
  property(MultibyteDto, 'text', ['あa'], ['a']),
  property(SurrogatePairDto, 'text', ['😀'], ['a']),
  property(HashDto, 'digest', ['d41d8cd98f00b204e9800998ecf8427e'], ['d41d8cd9']),
  property(HexadecimalDto, 'hex', ['ff00', '0xff'], ['xyz']),
  property(OctalDto, 'mode', ['0o755', '755'], ['789']),
  property(HexColorDto, 'color', ['#fff', '#ffff', 'ffffff'], ['white']),
  property(HslDto, 'color', ['hsl(120, 100%, 50%)'], ['rgb(0,0,0)']),
  property(RgbColorDto, 'color', ['rgb(0,10,255)', 'rgb(5%,5%,5%)'], ['#fff']),
  property(RgbColorWithoutPercentDto, 'color', ['rgb(0,10,255)'], ['rgb(5%,5%,5%)']),
  property(IbanDto, 'account', ['DE89370400440532013000'], ['DE00370400440532013000']),
  property(IdentityCardDto, 'card', ['99999999R'], ['99999999A']),
  property(PassportNumberDto, 'passport', ['C01X00T47'], ['1']),
  property(TaxIdDto, 'tax', ['01-1234567'], ['1']),
  property(IpDto, 'address', ['10.0.0.1', '::1'], ['10.0.0']),
  property(Ipv4Dto, 'address', ['10.0.0.1'], ['::1']),
  property(Ipv6Dto, 'address', ['::1'], ['10.0.0.1']),
  property(IsbnDto, 'book', ['9783836221191', '3836221195'], ['9783836221190']),
  property(Isbn13Dto, 'book', ['9783836221191'], ['3836221195']),
  property(IsinDto, 'paper', ['AU0000XVGZA3'], ['AU0000XVGZA4']),
  property(IsrcDto, 'recording', ['USAT29900609'], ['US']),
  property(IssnDto, 'journal', ['0378-5955', '03785955'], ['0378-5954']),
  property(IssnStrictDto, 'journal', ['0378-5955'], ['03785955']),
  property(CountryAlpha2Dto, 'country', ['DE'], ['XX']),
  property(CountryAlpha3Dto, 'country', ['DEU'], ['DEX']),
  property(CountryNumericDto, 'country', ['276'], ['000']),
  property(CurrencyCodeDto, 'currency', ['EUR'], ['XXQ']),
  property(LanguageDto, 'language', ['de'], ['xx']),
  property(LocaleDto, 'locale', ['de-AT', 'en'], ['!']),
  property(Iso8601Dto, 'at', ['2024-01-01', '2024-W01', '2024'], ['soon']),
  property(Iso8601StrictDto, 'at', ['2024-02-29'], ['2023-02-29']),
  property(Rfc3339Dto, 'at', ['2024-01-01T10:00:00Z'], ['2024-01-01']),
  property(MilitaryTimeDto, 'time', ['23:59'], ['24:00']),
  property(TimeZoneDto, 'zone', ['Europe/Berlin'], ['Europe/Nowhere']),
  property(JsonTextDto, 'payload', ['{"a":1}'], ['{a']),
  property(JwtDto, 'token', ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'], ['a.b']),
  property(LatLongDto, 'position', ['52.5,13.4'], ['north', 52.5]),
  property(LatitudeDto, 'latitude', [52.5, -90], [91], { pool: ['52.5', '91'] }),
  property(LatitudeTextDto, 'latitude', ['52.5'], ['91'], { pool: [52.5, 91] }),
  property(LongitudeDto, 'longitude', [-180], [181], { pool: ['13.4'] }),
  property(LowercaseDto, 'name', ['abc', ''], ['Abc']),
  property(UppercaseDto, 'name', ['ABC'], ['Abc']),
  property(MacAddressDto, 'device', ['01:02:03:04:05:ab'], ['01:02']),
  property(MacAddressBareDto, 'device', ['0102030405ab'], ['01:02:03:04:05:ab']),
  property(
    MagnetUriDto,
    'link',
    ['magnet:?xt=urn:btih:06E2A9683BF4DA92C73A661AC56F0ECC9C63C5B4'],
    ['https://example.com'],
  ),
  property(MimeTypeDto, 'type', ['text/plain'], ['text']),
  property(MobilePhoneDto, 'phone', ['+4915123456789'], ['12']),
  property(PhoneNumberDto, 'phone', ['+41311234567'], ['0311234567']),
  property(PhoneNumberOfRegionDto, 'phone', ['0311234567'], ['1']),
  property(MongoIdDto, 'id', ['507f1f77bcf86cd799439011'], ['507f']),
  property(NumberStringDto, 'digits', ['12', '-1.5'], [12, 'x']),
  property(NumberStringWithoutSymbolsDto, 'digits', ['12'], ['-1.5']),
  property(PortDto, 'port', ['8080'], ['65536', 8080]),
  property(PostalCodeDto, 'code', ['10115'], ['1011']),
  property(PostalCodeAnywhereDto, 'code', ['10115'], ['!']),
  property(SemVerDto, 'version', ['1.2.3-beta.1'], ['1.2']),
  property(StrongPasswordDto, 'password', ['Abcdefgh12'], ['abcdefgh12']),
  property(UrlDto, 'link', ['https://example.com', 'example.com'], ['example']),
  property(UrlWithProtocolDto, 'link', ['https://example.com/a'], ['example.com', 'http://example.com']),
  property(UuidDto, 'id', [UUID_4, UUID_1], ['6f1c']),
  property(Uuid4Dto, 'id', [UUID_4], [UUID_1]),
  whole(ManyTextRulesDto, {
    accepts: [{ handle: 'abc', short: 'a' }, { handle: 'abc' }],
    refuses: [{ handle: 'Abc' }, { handle: 'a' }, { handle: 'abc', short: '' }],
  }),
];
