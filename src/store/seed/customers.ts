import type { Customer, Plan } from '../customer.js';
import { Random } from './random.js';

const CONTACTS = [
  'Amara Okafor, Brightwater Foods',
  'Anders Holm, Nordkyst Shipping',
  'Beatriz Duarte, Casa Duarte Interiors',
  'Bilal Haddad, Cedar Point Clinics',
  'Camille Fournier, Atelier Fournier',
  'Chen Yifan, Lantern Robotics',
  'Clara Hoffmann, Hoffmann Optik',
  'Daniel Reyes, Reyes & Sons Roofing',
  'Dina Petrova, Balkan Trails',
  'Elif Demir, Demir Textiles',
  'Emily Carter, Greenfield Schools',
  'Erik Lund, Fjellheim Outdoor',
  'Fatima Zahra, Atlas Printworks',
  'Finn Gallagher, Gallagher Brewing',
  'Giulia Romano, Romano Ceramics',
  'Grace Mwangi, Savanna Logistics',
  'Hana Sato, Minato Design',
  'Hugo Lambert, Lambert Immobilier',
  'Imani Brooks, Harbor City Library',
  'Ines Navarro, Navarro Dental',
  'Jakub Nowak, Wisla Software',
  'Joanna Reed, Reed Veterinary Group',
  'Kavya Nair, Monsoon Tea',
  'Kenji Mori, Mori Bicycles',
  'Laura Weiss, Alpenblick Hotels',
  'Liam Osei, Northgate Fitness',
  'Luca Ferri, Ferri Motors',
  'Marta Kowalska, Kowalska Legal',
  'Mateo Vargas, Andes Coffee Roasters',
  'Nadia Rahman, Riverstone Insurance',
  'Noah Fischer, Fischer Metallbau',
  'Olivia Bennett, Bennett Catering',
  'Pavel Dvorak, Moravia Glass',
  'Rosa Jimenez, Sol y Mar Travel',
  'Samuel Adeyemi, Lagos Solar',
  'Sofia Lindgren, Lindgren Publishing',
  'Thomas Keller, Keller Apotheke',
  'Wei Ling Tan, Orchid Lane Florists',
  'Yusuf Kaya, Bosporus Imports',
  'Zoe Martin, Fable Toys',
];

const PLANS: readonly Plan[] = ['free', 'team', 'team', 'business'];

export function seedCustomers(): Customer[] {
  const random = new Random(41);
  return CONTACTS.map((contact, index) => {
    const [name = '', company = ''] = contact.split(', ');
    const mailbox = name.toLowerCase().replaceAll(' ', '.');
    const domain = company.toLowerCase().replace(/[^a-z]+/g, '');
    const since = Date.UTC(random.between(2021, 2024), random.between(0, 11), random.between(1, 28));
    return {
      id: `C-${101 + index}`,
      name,
      email: `${mailbox}@${domain}.example`,
      company,
      plan: random.pick(PLANS),
      since: new Date(since).toISOString().slice(0, 10),
    };
  });
}
